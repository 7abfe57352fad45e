"""Plots of fits, selections and benchmarks, as matplotlib axes."""

from infused._runtime.messages import extra

extra("matplotlib")  # here, so that whichever plot is asked for first says in one line what is missing
