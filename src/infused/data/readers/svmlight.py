"""svmlight (libsvm) files: a target and ``index:value`` pairs on each line."""

from __future__ import annotations

from pathlib import Path

from infused.data.columns import numbered
from infused.data.content import Matrix, ReadOptions
from infused.data.errors import DataError, parsing, quoted
from infused.data.registry import reader

__all__ = ["read_svmlight"]

MOST_FEATURES = 20_000_000  # every feature gets a name; an index beyond this is a slip


@reader(".svmlight", ".svm", ".libsvm", ".svmlight.gz", ".svm.gz", ".libsvm.gz", title="svmlight, sparse")
def read_svmlight(path: Path, options: ReadOptions) -> Matrix:
    """X stays sparse; features are named by their indices in the file, which count from 0 or from 1.

    A file whose indices count from 1 has no feature 0. Naming by index keeps the names of two files of one
    collection in step, even when index 0 occurs in only one of them.
    """
    from sklearn.datasets import load_svmlight_file

    with parsing(path, "svmlight"):
        X, y = load_svmlight_file(str(path), zero_based=True)
    if X.shape[1] > MOST_FEATURES:
        raise DataError(
            f"{quoted(path)} has the feature index {X.shape[1] - 1:,}; at most {MOST_FEATURES:,} are read"
        )
    first = 1 if X.shape[1] > 1 and X[:, [0]].nnz == 0 else 0
    return Matrix(X[:, first:], y, numbered(X.shape[1] - first, first))
