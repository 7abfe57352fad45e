"""``infused.rerun``: the request of a record again, and whether the same features come out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from infused.data import Dataset
from infused.data.named import find_named
from infused.data.sources import is_address
from infused.exceptions import InputError, Setting
from infused.record.schema import SelectionRecord
from infused.workflow.select import path_or_name, run_request
from infused.workflow.selection import Selection, read_record


@dataclass(frozen=True, repr=False)
class Repetition:
    """A selection that was made again.

    Parameters
    ----------
    earlier : SelectionRecord
        The first.
    again : Selection
        The second.
    same_data : bool
        Whether both saw the same values.

    See Also
    --------
    infused.rerun : Makes one.

    Examples
    --------
    >>> import infused
    >>> infused.rerun(infused.select("wine", k=3, method="anova")).same_data
    True
    """

    earlier: SelectionRecord
    again: Selection
    same_data: bool

    @property
    def difference(self) -> str:
        """Say what differs; empty where nothing does."""
        before, now = [feature.name for feature in self.earlier.selected], self.again.features
        if before == now:
            return ""
        then, versions = self.earlier.versions.infused, self.again.record.versions.infused
        said = f"then infused {then}, now {versions}"
        gone = len(set(before) - set(now))
        if gone == 0 and len(before) == len(now):
            return f"The same {len(now):,} features came out, but in another order ({said})."
        return f"Other features came out: {gone:,} of {len(before):,} are no longer selected ({said})."

    def __repr__(self) -> str:
        return f"<Repetition: {self}>"

    def __str__(self) -> str:
        return self.difference or f"The same {len(self.again):,} features came out, in the same order."


def rerun(
    selection: Any,
    data: Any = None,
    *,
    n_jobs: int | None = None,
    force: bool = False,
    allow_imports: bool = False,
) -> Repetition:
    """Repeat an earlier selection, and see whether the same features come out.

    A record is data: it names methods that are registered, with plain values as their parameters, and
    anything else is refused before the data are read.

    Parameters
    ----------
    selection : Selection, or path of a selection.json or of its folder
        The earlier one.
    data : path, name, data frame, pair (X, y), AnnData or Dataset, default=None
        Where the data are now, if they were moved or given in Python.
    n_jobs : int, default=None
        Threads; -1 for every core.
    force : bool, default=False
        Whether to go on, with a warning, although the data changed.
    allow_imports : bool, default=False
        Whether the record may name the class of a selector by its dotted path. The code that it names is
        imported and runs, so allow it for records of your own only.

    Returns
    -------
    Repetition
        ``again`` is the new selection, ``difference`` a sentence on what is not the same.

    See Also
    --------
    select : Makes a selection.

    Examples
    --------
    >>> import infused
    >>> print(infused.rerun(infused.select("wine", k=3, method="anova")))
    The same 3 features came out, in the same order.
    """
    earlier = selection.record if isinstance(selection, Selection) else read_record(selection)
    method = replace(earlier.request.method, allow_imports=allow_imports)
    method.check_recorded()
    request = replace(earlier.request, method=method)
    source = request.source if data is None else data
    if source is None:
        raise InputError("the data of this record were given in Python: pass them as ", Setting("data"))
    there = data is not None or find_named(source) or is_address(source) or Path(source).expanduser().exists()
    if not there:
        raise InputError(
            f"{source!r}, which the record names, is not here: say where it is with ", Setting("data")
        )
    if data is not None:
        request = replace(request, source=path_or_name(data))
    changed = f"{request.source or 'the data'!r} changed since {earlier.created}"

    def check(dataset: Dataset) -> None:
        if dataset.fingerprint != earlier.data.fingerprint and not force:
            raise InputError(f"{changed}: select from it as it is now with ", Setting("force", True))

    again = run_request(request, data, n_jobs=n_jobs, check=check)
    same = again.record.data.fingerprint == earlier.data.fingerprint
    if not same:
        warnings.warn(f"{changed}, so other features may have come out", UserWarning, stacklevel=2)
    return Repetition(earlier, again, same)
