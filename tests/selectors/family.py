"""How the tests of the family make its selectors."""

from __future__ import annotations

from typing import Any

import infused

#: What draws at random unless told otherwise: the same every time here, and less often.
DRAWN: dict[str, dict[str, Any]] = {
    "knockoffs": {"random_state": 0, "n_draws": 3, "fdr": 0.2},
    "stability": {"random_state": 0, "n_pairs": 6},
    "auto": {"methods": ["anova", "lasso"], "cv": 2},
}

#: What may select nothing where no number is given.
MAY_SELECT_NOTHING = ("knockoffs", "stability")


def make_selector(id: str, **parameters: Any) -> Any:
    """A selector whose answer depends on the data alone."""
    return infused.make_selector(id, **{**DRAWN.get(id, {}), **parameters})
