"""Selectors that score features by one function or by one model."""
