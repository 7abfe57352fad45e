"""The selectors that infused is compared with: one small adapter for each, from (X, y, k) to k features.

Each is used as its documentation shows, with its defaults where nothing else is said, on THREADS threads.

* mrmr_selection, feature-engine and scikit-lego are three ways to write MRMR. feature-engine is run with its
  default, nearest-neighbour mutual information ("MIQ"), and with F values and correlations ("FCQ"), its
  fastest and what the other two compute.
* scikit-feature (skfeature-chappers 1.2.1) needs discrete data and gets the codes that infused makes.
  Its `mrmr`, `jmi` and `mifs` return a ranking of the selected features among themselves, whatever `mode` is,
  so that the features are lost; the function beneath them, `lcsi`, is called as they call it, and returns
  them. It ignores the name of the criterion that it is given: "MRMR" is I(f; y) - 0.8 sum_s I(f; s).
* celer and skglm solve the lasso on the features that infused standardises: one column of labels for two
  classes, one-hot columns (multi-task) for more. lambda falls from the largest, in 100 steps to 0.01 of it,
  each started where the last one ended, until k features are in the model; the k with the longest
  coefficients are taken. Where the path ends before (a lasso has room for no more features than samples),
  features at zero follow by their correlation with the residual. Both are called through their solvers:
  celer's `MultiTaskLasso` fails with scikit-learn 1.7 and later, and skglm's does not start warm.
* group-lasso gets the same target, path and rule, and the clusters of features that infused makes.

An adapter calls `report` with the share of its work that it has done, or with UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.threads import THREADS
from infused._runtime.threads import memory_budget
from infused.information.discrete import discretize
from infused.selectors.inputs.training import design_matrix, target_matrix
from infused.selectors.linear.lassos import cluster_features

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[Any]
Report = Callable[[float], None]
Select = Callable[[Floats, Labels, int, Report], Ints]
Solve = Callable[[float, Floats], Floats]

PATIENCE_S = 30.0
UNKNOWN = float("nan")
PATH = np.geomspace(1.0, 0.01, 100)  # as shares of the largest lambda


class TooSlowError(Exception):
    """A peer has had its time; `seconds` is what it would have needed, not a number where nobody knows."""

    def __init__(self, seconds: float):
        super().__init__(f"would take {seconds:.0f} s")
        self.seconds = seconds


class Deadline:
    """Stops whoever takes more than `limit` seconds, or is bound to: then after PATIENCE_S already."""

    def __init__(self, limit: float):
        self.limit, self.start = limit, perf_counter()
        self.first: tuple[float, float] | None = None

    def __call__(self, share: float) -> None:
        seconds = perf_counter() - self.start
        if self.first is None:
            self.first = seconds, share  # whatever came before is done once
        before, done = self.first
        pace = (share - done) / (seconds - before) if share > done else np.nan
        projected = before + (1 - done) / pace
        if seconds > self.limit or (seconds > PATIENCE_S and projected > self.limit):
            raise TooSlowError(projected)


@dataclass(frozen=True)
class Peer:
    """Somebody else's selector."""

    name: str
    package: str
    """As pip calls it."""
    select: Select
    is_mrmr: bool = False
    """Whether it is held against MRMR of infused."""

    @property
    def version(self) -> str:
        try:
            return version(self.package)
        except PackageNotFoundError:
            return "not installed"


def mrmr_selection(X: Floats, y: Labels, k: int, report: Report) -> Ints:
    import mrmr  # silences every warning of the process
    import pandas as pd

    original, selected = mrmr.pandas.correlation, 0

    def correlation(*args: Any, **options: Any) -> Any:
        nonlocal selected
        selected += 1
        report(selected / k)
        return original(*args, **options)

    frame = pd.DataFrame(X, columns=[str(i) for i in range(X.shape[1])])
    with patch.object(mrmr.pandas, "correlation", correlation):
        names = mrmr.mrmr_classif(frame, pd.Series(y), K=k, n_jobs=THREADS, show_progress=False)
    return np.array([int(name) for name in names])


def feature_engine(method: str, X: Floats, y: Labels, k: int, report: Report) -> Ints:
    import pandas as pd
    from feature_engine.selection import MRMR

    class Reporting(MRMR):
        selected = 0

        def _calculate_redundance(self, *args: Any) -> Any:
            self.selected += 1
            report(self.selected / k)
            return super()._calculate_redundance(*args)

    selector = Reporting(method=method, max_features=k, random_state=0, n_jobs=THREADS)
    selector.fit(pd.DataFrame(X, columns=[str(i) for i in range(X.shape[1])]), pd.Series(y))
    return np.flatnonzero(selector.get_support())


def scikit_lego(X: Floats, y: Labels, k: int, report: Report) -> Ints:
    from sklego.feature_selection import MaximumRelevanceMinimumRedundancy
    from sklego.feature_selection.mrmr import _redundancy_pearson

    def redundancy(X: Floats, selected: list[int], left: list[int]) -> Floats:
        report((len(selected) / k) ** 2)  # it begins anew with every feature
        return np.asarray(_redundancy_pearson(X, selected, left))

    selector = MaximumRelevanceMinimumRedundancy(k, redundancy_func=redundancy, kind="classification")
    return np.flatnonzero(selector.fit(X, y).get_support())


def scikit_feature(criterion: dict[str, Any], X: Floats, y: Labels, k: int, report: Report) -> Ints:
    from skfeature.function.information_theoretical_based import LCSI

    codes = discretize(X, n_jobs=THREADS).codes.T
    original, compared = LCSI.cmidd, 0
    comparisons = (k - 1) * (X.shape[1] - k / 2)

    def cmidd(*args: Any) -> Any:
        nonlocal compared
        compared += 1
        report(compared / comparisons)
        return original(*args)

    with patch.object(LCSI, "cmidd", cmidd):
        return np.asarray(LCSI.lcsi(codes, y, mode="index", n_selected_features=k, **criterion))


def celer(X: Floats, y: Labels, k: int, report: Report) -> Ints:
    from celer import celer_path
    from celer.homotopy import mtl_path

    F, Y = standardised(X, y)
    options: dict[str, Any] = {"tol": 1e-4, "prune": True, "max_iter": 100}  # of its Lasso

    def one_target(lambda1: float, B: Floats) -> Floats:
        return celer_path(F, Y[:, 0], "lasso", alphas=[lambda1], coef_init=B[:, 0], **options)[1]

    def several(lambda1: float, B: Floats) -> Floats:
        start = np.asfortranarray(B.T)
        return mtl_path(F, Y, alphas=[lambda1], coef_init=start, **options)[1][..., 0].T

    return along_the_path(one_target if Y.shape[1] == 1 else several, F, Y, k, report)


def skglm(X: Floats, y: Labels, k: int, report: Report) -> Ints:
    from skglm.datafits import Quadratic, QuadraticMultiTask
    from skglm.penalties import L1, L2_1
    from skglm.solvers import AndersonCD, MultiTaskBCD

    F, Y = standardised(X, y)
    options: dict[str, Any] = {"tol": 1e-4, "fit_intercept": False, "warm_start": True}

    def one_target(lambda1: float, B: Floats) -> Floats:
        solver, start = AndersonCD(**options), B[:, 0].copy()
        return solver.solve(F, Y[:, 0], Quadratic(), L1(lambda1), start, F @ start)[0][:, None]

    def several(lambda1: float, B: Floats) -> Floats:
        solver, start = MultiTaskBCD(**options), B.copy()
        return solver.solve(F, Y, QuadraticMultiTask(), L2_1(lambda1), start, np.asfortranarray(F @ start))[0]

    return along_the_path(one_target if Y.shape[1] == 1 else several, F, Y, k, report)


def group_lasso(X: Floats, y: Labels, k: int, report: Report) -> Ints:
    from group_lasso import GroupLasso

    F, Y = standardised(X, y)
    groups = cluster_features(F, None, 0)
    squares = np.bincount(groups, ((F.T @ Y) ** 2).sum(axis=1))
    largest = np.sqrt(squares / np.bincount(groups)).max() / len(F)
    model = GroupLasso(
        groups, l1_reg=0.0, fit_intercept=False, random_state=0, warm_start=True, supress_warning=True
    )

    def solve(lambda1: float, _: Floats) -> Floats:
        return np.asarray(model.set_params(group_reg=lambda1).fit(F, Y).coef_)

    return along_the_path(solve, F, Y, k, report, largest)


def standardised(X: Floats, y: Labels) -> tuple[Floats, Floats]:
    """Columns of mean zero and variance one, in the order of memory that the peers ask for."""
    root = np.sqrt(len(X))
    kind = "label" if len(np.unique(y)) == 2 else "onehot"
    F = np.asfortranarray(root * design_matrix(X, True, memory_budget()))
    return F, np.asfortranarray(root * target_matrix(y, kind, True))


def along_the_path(
    solve: Solve, F: Floats, Y: Floats, k: int, report: Report, largest: float | None = None
) -> Ints:
    """The k longest rows at the first lambda with k rows; then by correlation with the residual."""
    if largest is None:
        largest = float(np.linalg.norm(F.T @ Y, axis=1).max()) / len(F)
    B = np.zeros((F.shape[1], Y.shape[1]))
    for share in PATH[1:]:
        B = np.asarray(solve(share * largest, B))
        if np.count_nonzero(B.any(axis=1)) >= k:
            break
        report(UNKNOWN)
    leftover = np.linalg.norm(F.T @ (Y - F @ B), axis=1)
    return np.lexsort((-leftover, -np.linalg.norm(B, axis=1)))[:k]


PEERS = {
    peer.name: peer
    for peer in (
        Peer("mrmr_selection", "mrmr_selection", mrmr_selection, is_mrmr=True),
        Peer("feature-engine FCQ", "feature-engine", partial(feature_engine, "FCQ"), is_mrmr=True),
        Peer("feature-engine MIQ", "feature-engine", partial(feature_engine, "MIQ"), is_mrmr=True),
        Peer("scikit-lego", "scikit-lego", scikit_lego, is_mrmr=True),
        Peer(
            "scikit-feature MRMR",
            "skfeature-chappers",
            partial(scikit_feature, {"gamma": 0, "function_name": "MRMR"}),
        ),
        Peer("scikit-feature JMI", "skfeature-chappers", partial(scikit_feature, {"function_name": "JMI"})),
        Peer("scikit-feature MIFS", "skfeature-chappers", partial(scikit_feature, {"beta": 0.5, "gamma": 0})),
        Peer("celer", "celer", celer),
        Peer("skglm", "skglm", skglm),
        Peer("group-lasso (package)", "group-lasso", group_lasso),
    )
}
