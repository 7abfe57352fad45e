"""Sparse linear models that rank features: the seven lassos and what they share."""
