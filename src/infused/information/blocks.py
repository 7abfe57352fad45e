"""A block of U from its pair sums: the one way to compute an entry, here or on a cluster."""

from __future__ import annotations

import numpy as np

from infused._runtime.progress import Stage
from infused._runtime.threads import Workers
from infused._typing import Floats
from infused.information.criteria import Criterion
from infused.information.pair_sums import FeatureIndex, PairSums, strips

__all__ = ["TILE", "block_of"]

TILE = 2048  # features of a tile of U; its last bits depend on it


def block_of(
    sums: PairSums, criterion: Criterion, rows: slice, columns: FeatureIndex, work: Workers, stage: Stage
) -> Floats:
    """U[rows, columns]; on the diagonal rows and columns are the same slice."""
    block, backward = sums.pair(rows, columns, work, stage)

    def combine(strip: slice) -> None:
        features = slice(rows.start + strip.start, rows.start + strip.stop)
        other = None if backward is None else backward[strip]
        criterion.combine(block[strip], other, features, columns)

    work.run(combine, strips(len(block)))
    if rows is columns and backward is None:
        work.run(lambda strip: _mirror(block, strip), strips(len(block)))
    return block


def _mirror(block: Floats, strip: slice) -> None:
    """Copy what is above the diagonal in some rows to below it."""
    square = np.triu(block[strip, strip])
    block[strip, strip] = square + np.triu(square, 1).T
    block[strip.stop :, strip] = block[strip, strip.stop :].T
