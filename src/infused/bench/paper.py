"""The published figures: L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection
using Structural Information", Tables 1, 2 and 3.

The paper gives means over ten repeats of 10-fold cross-validation with a linear C-SVM, the best over the
number of features, and no standard errors. It does not say whether features were selected inside the training
part of each fold.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = 'Bai et al., "Fused Lasso for Feature Selection using Structural Information"'


@dataclass(frozen=True)
class PublishedSize:
    """One row of Table 1."""

    kind: str
    n_features: int
    n_samples: int
    n_classes: int


@dataclass(frozen=True)
class PublishedScore:
    """One entry of Table 2 or 3."""

    accuracy: float
    """The best mean, in percent."""
    k: int
    """The number of features that it was reached with."""


#: Table 1. The paper writes Pie for PIE.
SIZES = {
    "USPS": PublishedSize("Image", 256, 9298, 10),
    "PIE": PublishedSize("Image", 1024, 11554, 68),
    "YaleB": PublishedSize("Image", 1024, 2414, 38),
    "Lymphoma": PublishedSize("Biomedical", 4026, 96, 9),
    "Leukemia": PublishedSize("Biomedical", 7129, 73, 2),
    "RELATHE": PublishedSize("Text", 4322, 1427, 2),
    "BASEHOCK": PublishedSize("Text", 4862, 1993, 2),
    "Isolet1": PublishedSize("Speech", 617, 1560, 26),
}

#: The data sets in the order of the tables.
DATASETS = tuple(SIZES)

#: Our ids of the methods, and the paper's names for them.
METHODS = {
    "lasso": "Lasso",
    "ulasso": "ULasso",
    "fused-lasso": "FusedLasso",
    "group-lasso": "GroupLasso",
    "in-lasso": "InLasso",
    "infused-lasso": "InFusedLasso",
    "in-elastic-net": "InElasticNet",
}

#: The methods of Table 2, and those of Table 3.
TABLE_2 = ("lasso", "ulasso", "fused-lasso", "group-lasso", "in-lasso", "infused-lasso")
TABLE_3 = ("in-elastic-net", "infused-lasso")

# Accuracy (%) and number of features, by data set in the order of DATASETS.
_SCORES = {
    "lasso": (
        (86.30, 50), (94.48, 70), (46.64, 50), (91.11, 100), (82.86, 200), (86.00, 200),
        (67.22, 140), (91.67, 100),
    ),
    "ulasso": (
        (83.25, 50), (94.57, 70), (47.43, 50), (94.44, 160), (82.86, 200), (85.49, 200),
        (67.33, 200), (92.18, 100),
    ),
    "fused-lasso": (
        (87.40, 50), (86.94, 70), (48.09, 50), (90.00, 120), (94.29, 140), (85.62, 200),
        (84.62, 200), (88.08, 90),
    ),
    "group-lasso": (
        (83.93, 50), (92.35, 70), (45.02, 50), (91.11, 200), (91.43, 180), (74.33, 200),
        (73.33, 200), (83.53, 100),
    ),
    "in-lasso": (
        (93.94, 50), (96.58, 70), (71.20, 50), (95.55, 140), (100.00, 80), (80.70, 180),
        (86.58, 180), (91.92, 100),
    ),
    "infused-lasso": (
        (93.67, 50), (96.90, 70), (94.87, 50), (95.55, 120), (98.57, 200), (84.50, 200),
        (92.85, 200), (93.01, 100),
    ),
    "in-elastic-net": (
        (94.10, 50), (96.82, 70), (94.62, 50), (95.55, 160), (100.00, 80), (83.02, 200),
        (92.75, 200), (92.03, 100),
    ),
}  # fmt: skip


def published_score(method: str, dataset: str) -> PublishedScore | None:
    """Return what the paper's tables say of a method on a data set, or None.

    >>> from infused.bench.paper import published_score
    >>> published_score("infused-lasso", "YaleB")
    PublishedScore(accuracy=94.87, k=50)
    """
    if method not in _SCORES or dataset not in SIZES:
        return None
    return PublishedScore(*_SCORES[method][DATASETS.index(dataset)])
