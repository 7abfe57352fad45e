"""Times and events: how a survival target is given, what it must hold, and how well it is predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError

#: One record for each sample: whether the event happened, and when it did or when the sample was last seen.
SURVIVAL = np.dtype([("event", np.bool_), ("time", np.float64)])

NAMES = {"event", "time"}


def survival_target(y: Any) -> Array | None:
    """Read times and events from a structured array or a frame of both; return None for other targets.

    A structured array has one boolean field and one of real numbers, as scikit-survival's have. A frame has
    such columns, or two that are named event and time.
    """
    fields = getattr(getattr(y, "dtype", None), "names", None)
    names = list(getattr(y, "columns", ()) if fields is None else fields)
    parts = {name: np.asarray(y[name]) for name in names} if len(names) == 2 else {}
    events = [name for name, values in parts.items() if values.dtype.kind == "b"]
    if fields is None:
        if not events and set(names) == NAMES:
            events = ["event"]
        if len(events) != 1:
            return None
    times = [name for name, values in parts.items() if values.dtype.kind in "iuf" and name not in events]
    if len(events) != 1 or len(times) != 1:
        raise InputError(
            "y must hold survival as two fields: whether the event happened (bool), and the time (numbers)"
        )
    return survival_records(parts[times[0]], parts[events[0]], f"y[{times[0]!r}]", f"y[{events[0]!r}]")


def survival_records(time: Array, event: Array, time_name: str = "time", event_name: str = "event") -> Array:
    """Check times and events, and put them together."""
    time = np.asarray(time, dtype=np.float64)
    if not np.isfinite(time).all():
        raise InputError(f"{time_name} has missing or infinite times: leave these samples out")
    if (time < 0).any():
        raise InputError(f"{time_name} must hold times of at least zero, but has {time.min():g}")
    if not np.isin(event, (0, 1)).all():
        odd = np.asarray(event)[~np.isin(event, (0, 1))][0]
        raise InputError(f"{event_name} must hold 1 for an event and 0 for none, but has {odd!r}")
    happened = np.asarray(event).astype(bool)
    if not happened.any():
        raise InputError(f"{event_name} has no event: all times are censored, so there is nothing to learn")
    first = time[happened][0]
    if (time[happened] == first).all() and (happened.sum() > 1 or (time <= first).sum() == len(time)):
        raise InputError(f"{time_name} has all events at one time ({first:g}): none comes first")
    records = np.empty(len(time), SURVIVAL)
    records["event"], records["time"] = happened, time
    return records


def martingale_residuals(y: Array, weights: Floats | None = None) -> Floats:
    """Return the events of each sample, less those expected by its time if no feature mattered."""
    from infused.datafits.losses import Cox  # which loads SciPy, that reading data can do without

    slope = Cox(y["time"], y["event"], weights).gradient(np.zeros((len(y), 1)))[:, 0]
    return -slope if weights is None else -slope / weights


@dataclass(frozen=True)
class CensoringCurve:
    """Kaplan-Meier estimate of the probability of not being censored yet."""

    moments: Floats
    """When samples were censored, increasing."""
    probability: Floats
    """Just after each of them; one before the first."""
    grid: Floats
    """Times at which predicted survival is scored: from the first to the last decile of the events."""

    @classmethod
    def of(cls, y: Array) -> CensoringCurve:
        """Estimate it; at equal times an event comes before a sample that is censored."""
        time, event = y["time"], y["event"]
        moments, counts = np.unique(time[~event], return_counts=True)
        at_risk = len(y) - np.searchsorted(np.sort(time), moments, side="left")
        at_risk -= np.searchsorted(np.sort(time[event]), moments, side="right")
        at_risk += np.searchsorted(np.sort(time[event]), moments, side="left")
        grid = np.unique(np.quantile(time[event], np.linspace(0.1, 0.9, 17)))
        return cls(moments, np.cumprod(np.concatenate([[1.0], 1 - counts / at_risk])), grid)

    def before(self, times: Floats) -> Floats:
        """Return the probability of not being censored before some times."""
        return np.asarray(self.probability[np.searchsorted(self.moments, times, side="left")])

    def after(self, times: Floats) -> Floats:
        """Return the probability of not being censored up to some times."""
        return np.asarray(self.probability[np.searchsorted(self.moments, times, side="right")])


def concordance(
    y: Array, risk: Floats, weights: Floats | None = None, censoring: CensoringCurve | None = None
) -> float:
    r"""Compute Harrell's index of concordance, or Uno's where the curve of censoring is given.

    .. math::

        C = \frac{\sum_{i, j} v_i w_j \delta_i 1\{T_i < T_j\}
        (1\{r_i > r_j\} + \tfrac12 1\{r_i = r_j\})}{\sum_{i, j} v_i w_j \delta_i 1\{T_i < T_j\}}

    It is the share of pairs, of which it is known who had the event first, whose risks have that order. At
    equal times an event comes before a sample that is censored. One half is chance. Harrell takes
    :math:`v_i = w_i`, the weights of the samples; Uno's :math:`v_i = w_i / G(T_i)^2`, with G the probability
    of not being censored before, estimates the same share whatever the censoring. NaN where no two samples
    can be compared. It takes O(n log n).
    """
    w = np.ones(len(y)) if weights is None else np.asarray(weights, np.float64)
    event, time = y["event"], y["time"]
    v = np.where(event, w, 0.0)
    if censoring is not None:
        known = censoring.before(time)
        v = np.divide(v, known**2, out=np.zeros(len(y)), where=known > 0)
    order = np.lexsort((risk, ~event, time))  # the risks of events at one time rise: none of them agree
    v, w = v[order], w[order]
    _, moment = np.unique(
        2 * np.unique(time[order], return_inverse=True)[1] + ~event[order], return_inverse=True
    )
    rank = np.unique(np.asarray(risk)[order], return_inverse=True)[1]
    pairs = float(w @ _earlier(v, moment, np.zeros_like(rank)))
    if pairs <= 0:
        return float("nan")
    return (_descents(v, w, rank) + 0.5 * float(w @ _earlier(v, moment, rank))) / pairs


def _earlier(v: Floats, moment: Ints, rank: Ints) -> Floats:
    """Sum v over the samples of the same rank at earlier moments, for each sample."""
    order = np.lexsort((moment, rank))
    sums = np.concatenate([[0.0], np.cumsum(v[order])])
    _, block = np.unique(rank[order] * (moment.max() + 1) + moment[order], return_index=True)
    _, start = np.unique(rank[order], return_index=True)
    of_block = np.repeat(block, np.diff([*block, len(v)]))
    of_rank = np.repeat(start, np.diff([*start, len(v)]))
    found = np.empty(len(v))
    found[order] = sums[of_block] - sums[of_rank]
    return found


def _descents(v: Floats, w: Floats, rank: Ints) -> float:
    """Sum v_i w_j over the pairs of places i < j whose ranks fall, bit by bit of the ranks.

    Two ranks differ first in one bit: among the samples whose higher bits are alike, each zero has the ones
    before it.
    """
    total = 0.0
    for bit in range(int(rank.max(initial=0)).bit_length()):
        higher = rank >> (bit + 1)
        order = np.argsort(higher, kind="stable")
        one = (rank[order] >> bit & 1).astype(bool)
        sums = np.cumsum(np.where(one, v[order], 0.0))
        _, start, sizes = np.unique(higher[order], return_index=True, return_counts=True)
        before = np.repeat(np.concatenate([[0.0], sums])[start], sizes)
        total += float(w[order][~one] @ (sums - before)[~one])
    return total


def integrated_brier(
    y: Array, survival: Floats, censoring: CensoringCurve, weights: Floats | None = None
) -> float:
    r"""Compute the mean squared error of predicted survival over the times of ``censoring.grid``.

    .. math::

        \frac1{n} \sum_i \Big( \frac{\hat S(t | x_i)^2 1\{T_i \le t, \delta_i = 1\}}{G(T_i)}
        + \frac{(1 - \hat S(t | x_i))^2 1\{T_i > t\}}{G(t)} \Big),

    integrated over t (Graf et al. 1999). ``survival`` are samples x times. A constant prediction of one half
    has 0.25.
    """
    times, gone = censoring.grid, y["time"][:, None] <= censoring.grid
    own, then = censoring.before(y["time"])[:, None], censoring.after(times)
    with np.errstate(divide="ignore", invalid="ignore"):
        died = np.where(gone & y["event"][:, None], survival**2 / own, 0.0)
        lived = np.where(gone, 0.0, (1 - survival) ** 2 / then)
    errors = np.average(died + lived, axis=0, weights=weights)
    if len(times) == 1:
        return float(errors[0])
    return float(np.trapezoid(errors, times) / (times[-1] - times[0]))
