"""Pages that need nothing else: words, charts as plain data, and templates that escape every name."""
