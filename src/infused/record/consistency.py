"""What the fields of a record must have in common; each by itself may be sound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from infused.coding import DECIMALS, HOWS
from infused.data.written import DATES

if TYPE_CHECKING:
    from infused.record.schema import SelectionRecord

__all__ = ["contradictions"]

ROUNDING = 1e-6
LARGEST = 1e300  # of a figure that is shown: its percentage is finite


def contradictions(record: SelectionRecord) -> Iterator[str]:
    """Sentences on fields that do not fit together."""
    yield from _features(record)
    yield from _charts(record)
    yield from _curves(record)
    yield from _trust(record)
    yield from (f"{name} is {value:g}, no share" for name, value in _shares(record) if not _is_share(value))
    yield from (f"{name} is {value:g}" for name, value in _figures(record) if not abs(value) <= LARGEST)


def _is_share(value: float) -> bool:
    return -ROUNDING <= value <= 1 + ROUNDING


def _shares(record: SelectionRecord) -> Iterator[tuple[str, float]]:
    """What lies between 0 and 1."""
    for n, feature in enumerate(record.selected):
        yield from ((f"selected[{n}].stand_ins", one.correlation) for one in feature.stand_ins)
        if feature.wins is not None:
            yield f"selected[{n}].wins", feature.wins
    if record.redundancy is not None:
        yield "redundancy.threshold", record.redundancy.threshold
        yield from (("redundancy.matrix", one) for row in record.redundancy.matrix for one in row)
    if record.stability is not None:
        yield "stability.threshold", record.stability.threshold
        yield from (("stability.frequencies", one) for one in record.stability.frequencies)


def _figures(record: SelectionRecord) -> Iterator[tuple[str, float]]:
    """What is shown as a number or a percentage, and drawn."""
    for n, feature in enumerate(record.selected):
        yield f"selected[{n}].alone", feature.alone
        yield f"selected[{n}].unique", feature.unique or 0.0
    for n, one in enumerate(record.tried):
        yield f"tried[{n}]", one.score or 0.0
        yield f"tried[{n}]", one.error or 0.0
    if record.number is not None:
        curve = record.number
        yield from (("number", one) for one in (*curve.means, *curve.errors, curve.chance))
        yield "number.all_features", curve.all_features or 0.0


def _trust(record: SelectionRecord) -> Iterator[str]:
    n_features = record.data.n_features
    if record.stability is not None and len(record.stability.frequencies) != n_features:
        yield f"stability.frequencies is not one share for each of the {n_features} features"
    if record.shadows is not None and not 0 <= record.shadows.by_chance <= n_features:
        yield f"shadows.by_chance is {record.shadows.by_chance:g} of {n_features} features"
    for n, one in enumerate(record.tried):
        if one.score is not None and None in (one.n_features, one.error):
            yield f"tried[{n}] has a score, but no number of features or no error"


def _features(record: SelectionRecord) -> Iterator[str]:
    every, n_features = record.features, record.data.n_features
    if not len(every.names) == len(every.scores) == len(every.ranks):
        yield "features has other numbers of names, scores and ranks"
    n_targets = len(record.coefficient_names)
    for n, feature in enumerate(record.selected):
        if not 0 <= feature.index < n_features:
            yield f"selected[{n}].index is {feature.index}, outside 0 to {n_features - 1}"
        if feature.coefficients is not None and len(feature.coefficients) != n_targets:
            yield f"selected[{n}] has {len(feature.coefficients)} coefficients, not {n_targets}"
    if record.coding is not None and len(record.coding) != len(record.selected):
        yield f"coding has {len(record.coding)} entries for {len(record.selected)} selected features"
    for n, variable in enumerate(record.coding or ()):
        origin = variable.origin
        if origin.how not in HOWS or origin.decimal not in DECIMALS or origin.format not in (None, *DATES):
            yield f"coding[{n}].origin has a way to read a column that does not exist"
    if record.redundancy is not None:
        sizes = {len(row) for row in record.redundancy.matrix} | {len(record.redundancy.matrix)}
        if len(sizes) != 1 or not 0 < max(sizes) <= len(record.selected):
            yield "redundancy.matrix is empty, not square, or larger than the selection"


def _charts(record: SelectionRecord) -> Iterator[str]:
    shape, pixels = record.data.grid_shape, record.data.mean_picture
    if shape is not None and (min(shape) < 1 or shape[0] * shape[1] != record.data.n_features):
        yield f"data.grid_shape is {shape[0]} x {shape[1]}, for {record.data.n_features} features"
    if pixels is not None and len(pixels) != record.data.n_features:
        yield f"data.mean_picture has {len(pixels)} pixels for {record.data.n_features} features"
    n_classes = len(record.data.classes or ())
    for n, found in enumerate(record.distributions):
        bins = len(found.edges) - 1 if found.levels is None else len(found.levels)
        if len(found.counts) != n_classes or any(len(row) != bins for row in found.counts):
            yield f"distributions[{n}].counts is not {n_classes} classes x {bins} bins"
    for n, scatter in enumerate(record.scatters):
        if len(scatter.values) != len(scatter.target):
            yield f"scatters[{n}] has {len(scatter.values)} values for {len(scatter.target)} of the target"


def _curves(record: SelectionRecord) -> Iterator[str]:
    ended, number = record.convergence, record.number
    if ended is not None and len(ended.path_iterations) != len(ended.path_objective):
        yield "convergence has other numbers of iterations and of objectives"
    if number is not None and not len(number.ks) == len(number.means) == len(number.errors) > 0:
        yield "number has other numbers of ks, means and errors"
    elif number is not None and not {number.best, number.chosen} <= set(number.ks):
        yield "number.best or number.chosen is not among the numbers that were tried"
    if number is not None and not number.scoring:
        yield "number.scoring is empty"
