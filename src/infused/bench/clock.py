"""How long a run will still take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from infused.bench.cells import Cell

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Clock"]


class Clock:
    """The time that is left, from the mean time of each method on each data set."""

    def __init__(self, rows: DataFrame, todo: Sequence[Cell], n_workers: int):
        self.n_workers = n_workers
        self._left = Counter(_kind(cell) for cell in todo)
        known = rows.dropna(subset="cell_seconds").drop_duplicates("cell")
        means = known.groupby(["dataset", "method"])["cell_seconds"].mean()
        self._sums = {kind: (float(mean), 1) for kind, mean in means.items()}

    @property
    def n_left(self) -> int:
        """Cells that are not finished."""
        return self._left.total()

    def finished(self, cell: Cell, seconds: float) -> None:
        """Count a cell, and learn how long it took."""
        self.drop(cell)
        total, n = self._sums.get(_kind(cell), (0.0, 0))
        self._sums[_kind(cell)] = (total + seconds, n + 1)

    def drop(self, cell: Cell) -> None:
        """Count a cell that another process finished."""
        self._left[_kind(cell)] -= 1

    def seconds_left(self) -> float:
        """Of what is not known yet, the mean of what is."""
        means = {kind: total / n for kind, (total, n) in self._sums.items()}
        usual = sum(means.values()) / max(1, len(means))
        return sum(n * means.get(kind, usual) for kind, n in self._left.items()) / self.n_workers


def _kind(cell: Cell) -> tuple[str, str]:
    return cell.dataset, cell.method
