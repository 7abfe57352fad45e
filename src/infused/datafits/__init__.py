"""Datafits: what a prediction costs on the training samples, as value, gradient and curvature."""

from infused.datafits.cox import Cox
from infused.datafits.curvature import Curvature, Datafit, Diagonal
from infused.datafits.huber import Huber
from infused.datafits.logistic import Logistic, Multinomial
from infused.datafits.poisson import Poisson
from infused.datafits.squared import Squared
from infused.datafits.survival import (
    SURVIVAL,
    concordance,
    martingale_residuals,
    survival_records,
    survival_target,
)

__all__ = [
    "SURVIVAL",
    "Cox",
    "Curvature",
    "Datafit",
    "Diagonal",
    "Huber",
    "Logistic",
    "Multinomial",
    "Poisson",
    "Squared",
    "concordance",
    "martingale_residuals",
    "survival_records",
    "survival_target",
]
