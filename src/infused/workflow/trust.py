"""After a selection: are the features stable, and are they better than chance?

Where an estimate says that it takes seconds it is asked after every selection; else where it was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone

from infused._runtime.messages import reason
from infused._runtime.progress import reporting, timed
from infused._typing import Array, Data
from infused.exceptions import InputError
from infused.record.schema import Request
from infused.samples import Samples
from infused.selectors.control.inference import SelectionInference
from infused.selectors.control.shadows import ShadowTest, shadow_test
from infused.selectors.control.stability import StabilitySelection, number_of

PAIRS = 50
SECONDS = 3.0  # that it may take where nobody asked for it
WORTH_A_PAIR = 1.5  # seconds of the selection itself, up to which a pair is tried to tell how long all take
SLOW = 20.0  # seconds from which on several processes are worth their start
REPEATS = 5  # of the shadows, each a fit on features and shadows: about three times as long as on features

#: These have an error rate of their own, and take long.
ONLY_IF_ASKED = ("knockoffs",)


@dataclass(frozen=True)
class Trust:
    """Stability and the comparison with permuted copies; None where they were not computed."""

    stability: StabilitySelection | None = None
    shadows: ShadowTest | None = None
    note: str = ""
    """Why they could not be computed."""

    @property
    def n_pairs(self) -> int:
        """Return what a rerun has to ask for."""
        return 0 if self.stability is None else int(self.stability.n_pairs)


def assess_trust(
    selector: Any,
    F: Data,
    y: Array,
    samples: Samples,
    request: Request,
    timings: dict[str, float],
    n_jobs: int | None,
    selecting: float,
) -> Trust:
    """Select in half-samples, and against permuted copies, as asked or where it takes seconds.

    ``selecting`` are the CPU seconds of the selection itself.
    """
    if request.stability == 0:
        return Trust()
    base = getattr(selector, "selector_", selector)  # what an AutoSelector chose
    n_selected = int((base.ranking_ <= _number(selector)).sum()) if hasattr(base, "ranking_") else 0
    if isinstance(selector, StabilitySelection):
        return Trust(selector)
    if not n_selected or (request.stability is None and request.method.id in ONLY_IF_ASKED):
        return Trust()
    again = StabilitySelection(
        clone(base).set_params(n_features_to_select=n_selected), random_state=request.seed
    )
    try:
        seconds = _seconds(again, F, y, samples, selecting, request.stability is not None)
        if seconds is None:
            return Trust()
        again.set_params(n_pairs=request.stability or PAIRS, n_jobs=n_jobs if seconds > SLOW else None)
        with timed(timings, "select again", "selecting in half-samples"):
            again.fit(F, y, **samples.taken_by(again))
        with timed(timings, "shadows", "comparing with permuted copies"):
            shadows = shadow_test(
                base,
                F,
                y,
                n_repeats=REPEATS,
                random_state=request.seed,
                sample_groups=samples.groups,
                order=samples.order,
            )
    except InputError as error:
        if request.stability is not None:
            raise
        return Trust(note=f"stability could not be computed: {reason(error)}")
    return Trust(again, shadows)


def estimate_effects(
    selector: Any,
    F: Data,
    y: Array,
    samples: Samples,
    request: Request,
    timings: dict[str, float],
    n_jobs: int | None,
) -> SelectionInference | None:
    """Estimate effects with intervals, where they are asked for and something was selected.

    Each half selects as many features as the other can estimate, by the method with its parameters.
    """
    if not request.intervals or not np.any(selector.get_support()):
        return None
    base = clone(getattr(selector, "selector_", selector))
    number = number_of(base)
    if number is not None:
        base.set_params(**{number: None})
    inference = SelectionInference(base, random_state=request.seed, n_jobs=n_jobs)
    with timed(timings, "intervals", "estimating effects"), reporting(None):
        inference.fit(F, y, **samples.taken_by(inference))
    return inference


def _number(selector: Any) -> int:
    """Count the selected features, or groups."""
    groups = getattr(selector, "groups", None)
    return int(selector.support_.sum() if groups is None else len(set(groups[selector.support_])))


def _seconds(
    again: StabilitySelection, F: Data, y: Array, samples: Samples, selecting: float, asked: bool
) -> float | None:
    """Estimate the seconds; None where that is more than may be spent without being asked."""
    if not asked and selecting > min(WORTH_A_PAIR, SECONDS):
        return None
    start = process_time()  # so that what else runs on the machine does not count
    with reporting(None):
        clone(again).set_params(n_pairs=1).fit(F, y, **samples.taken_by(again))
    pair = process_time() - start
    seconds = PAIRS * pair + REPEATS * 3 * pair
    return seconds if asked or seconds <= SECONDS else None
