"""Solvers: split Bregman (Algorithm 1) with its linear systems, and accelerated proximal gradients."""

from infused.solvers.least_squares import LeastSquares
from infused.solvers.limits import largest_lambda3
from infused.solvers.proximal import proximal_gradient
from infused.solvers.split_bregman import split_bregman

__all__ = ["LeastSquares", "largest_lambda3", "proximal_gradient", "split_bregman"]
