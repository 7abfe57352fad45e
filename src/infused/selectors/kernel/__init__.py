"""Selectors that regress the graph of the target on the graphs of the features."""
