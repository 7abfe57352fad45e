"""Plots of fits, selections and benchmarks, as matplotlib axes."""
