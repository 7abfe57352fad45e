"""Choosing a method and the number of features by cross-validation."""
