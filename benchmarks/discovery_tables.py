"""Tables of false discoveries and power, from the rows of `benchmarks.false_discoveries`."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.tables import markdown_table

Row = dict[str, str]
RATES = ("0.05", "0.1", "0.2")
TIMED_ON = "AR(1), 0.5"
PEERS = (
    *("knockoffs", "knockoffs, one copy", "one copy, e-values", "one copy, equicorrelated"),
    *("knockpy", "lasso, cross-validated", "boruta_py"),
)


def rates(rows: Sequence[Row]) -> str:
    """Realised false discovery rates of KnockoffSelector, and what it finds."""
    mine = _by_design(rows, "knockoffs")
    header = [
        "design",
        "M x N",
        "signals",
        "draws",
        *(f"FDR, q = {q}" for q in RATES),
        *(f"power, q = {q}" for q in RATES),
    ]
    cells = []
    for name, found in mine.items():
        first = found["0.1"]
        fdr = [f"{float(found[q]['fdr']):.3f} ± {float(found[q]['fdr_error']):.3f}" for q in RATES]
        power = [_share(found[q]["power"]) for q in RATES]
        cells.append(
            [
                name,
                f"{first['samples']} x {first['features']}",
                first["signals"],
                first["draws"],
                *fdr,
                *power,
            ]
        )
    return markdown_table(header, cells)


def peers(rows: Sequence[Row]) -> str:
    """Power and realised rate beside others, at q = 0.1 where a method takes a rate."""
    found = {name: _by_design(rows, name) for name in PEERS}
    cells = []
    for design in dict.fromkeys(row["design"] for row in rows):
        cells.append([design, *(_power_and_rate(found[name].get(design)) for name in PEERS)])
    timed = (found[name].get(TIMED_ON) for name in PEERS)
    seconds = [f"{float(_at(one)['seconds']):.2g}" if one else "-" for one in timed]
    draws = [_draws(found[name]) for name in PEERS]
    cells += [[f"CPU seconds, {TIMED_ON}", *seconds], ["draws of each design", *draws]]
    # A mean of few draws must not look like one of many.
    titles = [name if n == draws[0] else f"{name}, {n} draws" for name, n in zip(PEERS, draws, strict=True)]
    return markdown_table(["power (false discovery rate)", *titles], cells)


def bounds(rows: Sequence[Row]) -> str:
    """List false selections of StabilitySelection, its bound, and its power at two thresholds."""
    lower = _by_design(rows, "stability, 0.75")
    cells = [
        [
            design,
            row["draws"],
            f"{float(row['false']):.2f} ± {float(row['false_error']):.2f}",
            f"{float(row['bound']):.2f}",
            f"{float(row['selected']):.1f}",
            _share(row["power"]),
            _share(_at(lower[design])["power"]) if design in lower else "-",
        ]
        for design, found in _by_design(rows, "stability").items()
        for row in found.values()
    ]
    titles = ["false selections", "bound", "selected", "power", "power, threshold 0.75"]
    return markdown_table(["design", "draws", *titles], cells)


def _by_design(rows: Sequence[Row], method: str) -> dict[str, dict[str, Row]]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row["method"] == method:
            found.setdefault(row["design"], {})[row["q"]] = row
    return found


def _at(found: dict[str, Row]) -> Row:
    """At q = 0.1, or the only one."""
    return found.get("0.1") or next(iter(found.values()))


def _power_and_rate(found: dict[str, Row] | None) -> str:
    if found is None:
        return "-"
    row = _at(found)
    return f"{_share(row['power'])} ({float(row['fdr']):.2f})"


def _draws(found: dict[str, dict[str, Row]]) -> str:
    draws = sorted({int(_at(one)["draws"]) for one in found.values()})
    return "-".join(map(str, [draws[0], draws[-1]] if len(draws) > 1 else draws)) or "none"


def _share(text: str) -> str:
    return f"{float(text):.2f}" if text else "-"
