"""Columns that number or name the rows: they look like features, and a selector may fall for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from infused._typing import Data, Floats
from infused.data.errors import DataError, listed, repeated

__all__ = ["named_like_identifier", "numeric_identifiers", "refuse_identifiers"]

WORDS = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)\d*")  # ID1 is a gene
IDENTIFYING = {
    *("id", "ids", "idx", "index", "identifier", "uuid", "guid", "serial", "barcode", "unnamed"),
    *("row", "rowid", "rowname", "rownames", "record", "recordid", "sample", "samples", "sampleid"),
    *("patient", "patientid", "subject", "subjectid"),
}
SHORTEST_RUN = 5  # two or three rows that happen to hold 1, 2, 3 prove nothing


def named_like_identifier(name: str) -> bool:
    """Whether a word of the name says so: ``id``, ``PatientID``, ``sample_no``, ``Unnamed: 0``."""
    return any(word.lower() in IDENTIFYING for word in WORDS.findall(name))


def numeric_identifiers(X: Data, names: Sequence[str], keep: Collection[str]) -> list[str]:
    """Columns of a dense X with a whole number of its own for every row, by name or because they count."""
    if not isinstance(X, np.ndarray):
        return []
    found = {j for j in _counting(X) if names[j] not in keep}
    for j, name in enumerate(names):
        if name not in keep and named_like_identifier(name) and _tells_rows_apart(X[:, j]):
            found.add(j)
    return [names[j] for j in sorted(found)]


def refuse_identifiers(names: Sequence[str]) -> None:
    """Raise when there are any, and say how to go on."""
    if names:
        seem = "looks like an identifier, not like a feature" if len(names) == 1 else "look like identifiers"
        raise DataError(
            f"{listed(names)} {seem} (every row has its own value): leave out with "
            f"{repeated('--drop', names)}, or use as it is with {repeated('--keep', names)}"
        )


def _counting(X: Floats) -> list[int]:
    """Columns that run 0, 1, 2, ... or 1, 2, 3, ...; two rows are enough to rule out nearly all others."""
    if len(X) < SHORTEST_RUN:
        return []
    likely = np.flatnonzero(((X[0] == 0) | (X[0] == 1)) & (X[1] == X[0] + 1))
    return [int(j) for j in likely if (np.diff(X[:, j]) == 1).all()]


def _tells_rows_apart(column: Floats) -> bool:
    whole = bool(np.isfinite(column).all()) and bool((column == np.floor(column)).all())
    return whole and len(np.unique(column)) == len(column)
