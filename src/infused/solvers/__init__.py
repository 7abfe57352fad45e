"""Solvers: split Bregman (Algorithm 1) with its linear systems, proximal gradients, coordinate descent."""

from infused.solvers.coordinate_descent import coordinate_descent
from infused.solvers.least_squares import LeastSquares, largest_lambda3
from infused.solvers.proximal import proximal_gradient
from infused.solvers.proximal_newton import Loss, null_solution, proximal_newton
from infused.solvers.reweighted import reweighted
from infused.solvers.split_bregman import split_bregman, split_bregman_on_working_set

__all__ = [
    "LeastSquares",
    "Loss",
    "coordinate_descent",
    "largest_lambda3",
    "null_solution",
    "proximal_gradient",
    "proximal_newton",
    "reweighted",
    "split_bregman",
    "split_bregman_on_working_set",
]
