"""Compiled functions on plain arrays, no objects. They release the interpreter lock and never use fast-math
where bits are read, and they are cached on disk."""
