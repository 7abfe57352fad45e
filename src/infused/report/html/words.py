"""The words of the page. Every name passes through ``escape`` on its way into HTML."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from infused.record.schema import SelectionRecord
from infused.record.sentences import shared_groups

__all__ = ["citations", "definition_list", "facts", "groups_text", "settings"]

PAPER = (
    'L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection using Structural '
    'Information".'
)
MOST_CLASSES = 12
MOST_MEMBERS = 8

Pair = tuple[str, str]


def facts(record: SelectionRecord) -> list[Pair]:
    """The key figures: a name and a value each."""
    data, found = record.data, record.convergence
    groups = {feature.group for feature in record.selected}
    pairs = [
        ("Selected", f"{len(record.selected):,} of {data.n_features:,}"),
        ("Samples", f"{data.n_samples:,}"),
    ]
    if data.classes is not None:
        pairs.append(("Classes", f"{len(data.classes):,}"))
    if record.redundancy is not None and None not in groups:
        pairs.append(("Redundancy groups", f"{len(groups):,}"))
    if found is not None and found.converged is not None:
        pairs.append(("Solver", "converged" if found.converged else "not converged"))
    if found is not None and found.iterations is not None:
        pairs.append(("Iterations", f"{found.iterations:,}"))
    if found is not None and found.certificate is not None:
        pairs.append(("Optimality gap", f"{found.certificate:.1e} of λ1"))
    return pairs


def groups_text(record: SelectionRecord) -> list[Pair]:
    """Each redundancy group of two or more, and who is in it."""
    return [
        (f"Group {number}", _listed([feature.name for feature in features], MOST_MEMBERS))
        for number, features in shared_groups(record).items()
    ]


def settings(record: SelectionRecord) -> list[Pair]:
    """What a rerun needs, in words."""
    request, data, versions = record.request, record.data, record.versions
    classes = [f"{one.name} ({one.count:,})" for one in data.classes or ()]
    pairs = [
        ("Data", request.source),
        ("Reading", _options(request.reading)),
        ("Target", data.target),
        ("Classes (samples)", _listed(classes, MOST_CLASSES)),
        ("Notes on the data", " ".join(data.notes)),
        ("Fingerprint", data.fingerprint),
        ("Method", request.method),
        ("Parameters", _options(request.parameters)),
        (
            "Features asked for",
            "as many as it finds" if request.n_features is None else str(request.n_features),
        ),
        ("Transform", request.transform),
        ("Seed", "" if request.seed is None else str(request.seed)),
        ("Time", ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in record.timings.items())),
        (
            "Versions",
            f"infused {versions.infused}, NumPy {versions.numpy}, scikit-learn {versions.scikit_learn}, "
            f"Python {versions.python}",
        ),
        ("Made", record.created),
    ]
    return [(name, value) for name, value in pairs if value]


def citations(record: SelectionRecord) -> list[str]:
    """The paper, and the method's own reference where it is another."""
    own = record.reference
    return [PAPER] if own is None or own == PAPER else [own, PAPER]


def _options(options: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} = {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in options.items()
        if value is not None
    )


def _listed(names: list[str], most: int) -> str:
    beyond = len(names) - most
    return ", ".join(names[:most]) + (f" and {beyond:,} more" if beyond > 0 else "")


def definition_list(pairs: list[Pair], kind: str) -> str:
    """Names and values as HTML, escaped."""
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="{kind}">{rows}</dl>' if pairs else ""
