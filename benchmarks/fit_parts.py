"""One selector on one file of data, in a process of its own: CPU seconds, and the parts they go into.

python -m benchmarks.fit_parts DATA.npz SELECTOR K [--repeats 3]

Run by benchmarks.fits with this checkout's package, or with an earlier one first on the path; so it asks for
nothing of infused but the selector. The parts are sums over functions by name, from one more fit under
Python's profiler; where a version has no such function, its part is zero. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import resource
import warnings
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

FEW = 300  # features of the fit that compiles
MOMENT = 2.0  # seconds; what takes longer is timed once
GRAPHS = {("graphs/distributions.py", "target_graphs"), ("graphs/distributions.py", "feature_graphs")}
#: Where functions are, and where earlier versions had them.
INFORMATION = {
    ("information/structural.py", "structural_information"),
    *(("linear/information.py", "_operator"), ("selectors/structure.py", "_operator")),
    *(("information/operator.py", "of"), ("information/nearby.py", "of")),
    ("penalties/quadratic.py", "convexified"),
}
SOLVE = {("linear/model.py", "fit"), ("selectors/model.py", "fit")}
ASKED = {("information/operator.py", "learn"), ("information/nearby.py", "learn")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("selector")
    parser.add_argument("k", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    import infused

    threadpool_limits(1)
    with np.load(options.data) as file:
        X, y = file["X"], file["y"]
    selector = getattr(infused, options.selector)(n_features_to_select=options.k, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(infused, options.selector)(n_features_to_select=10, n_jobs=1).fit(X[:, :FEW], y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seconds = timed(selector, X, y, options.repeats)
    found = {
        "seconds": seconds,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "certificate": selector.certificate_,
        "converged": bool(selector.converged_),
        "screened": getattr(selector, "n_features_screened_", 0),
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
        "selected": np.flatnonzero(selector.support_).tolist(),
    }
    print(json.dumps({**found, **parts(selector, X, y)}))


def timed(selector: Any, X: Any, y: Any, repeats: int) -> float:
    """The least CPU seconds of some fits; of one, where it takes more than a moment."""
    best = np.inf
    for _ in range(repeats):
        start = process_time()
        selector.fit(X, y)
        best = min(best, process_time() - start)
        if best > MOMENT:
            break
    return float(best)


def parts(selector: Any, X: Any, y: Any) -> dict[str, float]:
    """Shares of a fit: graphs, information, solving."""
    profile = cProfile.Profile(process_time)
    profile.enable()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, y)
    profile.disable()
    stats = pstats.Stats(profile)
    total = stats.total_tt or 1.0  # type: ignore[attr-defined]  # its stub has no fields
    graphs, information = within(stats, GRAPHS), within(stats, INFORMATION)
    # What a solver asks for while it runs is information, not solving; of two methods of a name the outer.
    solve = within(stats, SOLVE) - within(stats, ASKED, outermost=True)
    return {
        "distributions": graphs / total,
        "information": (information - graphs) / total,
        "solve": solve / total,
    }


def within(stats: pstats.Stats, wanted: set[tuple[str, str]], outermost: bool = False) -> float:
    """Seconds inside some functions, each named by the end of its file's path and its name."""
    found = [
        entry[3]
        for (path, _, name), entry in stats.stats.items()  # type: ignore[attr-defined]  # as above
        if any(name == function and path.replace("\\", "/").endswith(file) for file, function in wanted)
    ]
    return float(max(found, default=0.0) if outermost else sum(found))


if __name__ == "__main__":
    main()
