"""Selectors that take one feature after the other."""
