"""Times and events: how a survival target is given, what it must hold, and how well it is predicted."""

from __future__ import annotations

from typing import Any

import numpy as np

from infused._typing import Array, Floats
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
    from infused.datafits.cox import Cox  # which loads SciPy, that reading data can do without

    slope = Cox(y["time"], y["event"], weights).gradient(np.zeros((len(y), 1)))[:, 0]
    return -slope if weights is None else -slope / weights


def concordance(y: Array, risk: Floats) -> float:
    r"""Compute Harrell's index of concordance.

    .. math::

        C = \frac{\#\{T_i < T_j, \delta_i = 1, r_i > r_j\} + \frac12 \#\{\ldots, r_i = r_j\}}
        {\#\{T_i < T_j, \delta_i = 1\}}

    It is the share of pairs, of which it is known who had the event first, whose risks have that order. At
    equal times an event comes before a sample that is censored. One half is chance.
    """
    time, event = y["time"], y["event"]
    agree, pairs = 0.0, 0
    for i in np.flatnonzero(event):
        later = (time > time[i]) | ((time == time[i]) & ~event)
        pairs += int(later.sum())
        agree += float((risk[i] > risk[later]).sum() + 0.5 * (risk[i] == risk[later]).sum())
    if pairs == 0:
        raise InputError("no two samples can be compared: each event comes after all others were censored")
    return agree / pairs
