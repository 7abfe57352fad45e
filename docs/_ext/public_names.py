"""One page for every public name: lists for `autosummary`, made from what the package exports."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

#: Under which heading the names of the package stand; what is not named here comes under "More".
GROUPS = {
    "The main jobs": (
        "select", "compare", "explain", "rerun", "Selection", "Comparison", "Explanation", "Repetition",
    ),
    "Sparse models": (
        "InFusedLasso", "InElasticNet", "InLasso", "Lasso", "ULasso", "FusedLasso", "GroupLasso",
        "HSICLasso",
    ),
    "One feature after the other": (
        "GreedyForward", "MRMR", "MIFS", "JMIM", "JMI", "CMIM", "DISR", "RandomSelector",
    ),
    "Choosing and trusting": (
        "AutoSelector", "StabilitySelection", "KnockoffSelector", "RedundancyFilter",
        "shadow_test", "ShadowTest",
    ),
    "Selectors by id": ("make_selector", "available_selectors"),
    "Structural information": (
        "structural_information", "StructuralInformation", "feature_distributions", "target_distributions",
        "FeatureGraph", "jensen_shannon", "similarity", "relation_curve",
    ),
    "Data, progress, clusters": ("fetch_dataset", "progress", "cluster", "open_columns"),
}  # fmt: skip
SPACES = {
    "infused.data": "Data from files, by name and from Python.",
    "infused.report": "Plots and pages.",
    "infused.bench": "Repeated cross-validation of many methods, and what its results say.",
    "infused.exceptions": "Errors and warnings that a user can act on.",
}
MODULES = ("bench", "data", "exceptions", "report")


def listing(space: str, names: list[str]) -> list[str]:
    """One table of names, each with a page."""
    paths = [f"   {space}.{name}" for name in names]
    return [".. autosummary::", "   :toctree: generated", "   :nosignatures:", "", *paths, ""]


def grouped(every: list[str]) -> dict[str, list[str]]:
    """The names of the package under their headings; none is left out."""
    found = {title: [name for name in names if name in every] for title, names in GROUPS.items()}
    known = {name for names in found.values() for name in names}
    found["More"] = [name for name in every if name not in known]
    return {title: names for title, names in found.items() if names}


def page() -> str:
    """The page that lists them all."""
    top = [name for name in importlib.import_module("infused").__all__ if name not in MODULES]
    lines = [
        "API reference",
        "=============",
        "",
        "Every public name has a page; each page has an example that runs.",
        "",
    ]
    for title, names in grouped(top).items():
        lines += [title, "-" * len(title), "", *listing("infused", names)]
    for space, words in SPACES.items():
        lines += [
            space,
            "-" * len(space),
            "",
            words,
            "",
            *listing(space, importlib.import_module(space).__all__),
        ]
    return "\n".join(lines)


def write(app: Any, config: Any) -> None:
    """Write it before sources are looked for."""
    path = Path(app.srcdir) / "api" / "index.rst"
    path.parent.mkdir(exist_ok=True)
    text = page()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def ours_alone(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class inherits from scikit-learn or Python: their pages tell of it."""
    member = inspect.unwrap(getattr(member, "fget", None) or getattr(member, "func", None) or member)
    module = getattr(member, "__module__", None) or "infused"
    return None if module.startswith("infused") else True


def setup(app: Any) -> dict[str, bool]:
    """Before sources are looked for, so that autosummary finds the page."""
    app.connect("config-inited", write)
    app.connect("autodoc-skip-member", ours_alone)
    return {"parallel_read_safe": True}
