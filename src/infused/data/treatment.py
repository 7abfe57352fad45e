"""How data are read and prepared: one description, from the options of a user to the record and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from numbers import Integral
from os import fspath
from typing import Any

from infused._runtime.messages import check_choice
from infused.exceptions import InputError, Setting

IMPUTES = ("mean", "median", "most-frequent", "zero", "error")
CATEGORIES = ("whole", "error")
DATES = ("day-first", "month-first")
TASKS = ("classification", "regression")


@dataclass(frozen=True)
class Treatment:
    """The options of :func:`infused.data.load_data`, as they were given.

    Parameters
    ----------
    target : str, int or None, default=None
        The target's column, by name or by position.
    target_file : str or None, default=None
        A second file that holds the target.
    x_key : str or None, default=None
        Where the features are in a file of several arrays.
    y_key : str or None, default=None
        Where the target is in a file of several arrays.
    drop : tuple of str or int, default=()
        Columns to leave out.
    use : tuple of str or int, default=()
        Columns to use although they look like identifiers.
    impute : {"median", "mean", "most-frequent", "zero", "error"} or None, default=None
        How to fill the gaps of numbers; None for the median, "error" to refuse gaps.
    one_hot : bool, default=False
        Whether each value of a text column becomes a 0/1 column, which is a feature of its own.
    categories : {"whole", "error"}, default="whole"
        Whether a text column is a category, selected whole or not at all, or refused.
    as_category : tuple of str or int, default=()
        Columns of numbers that are codes of categories.
    missing : tuple of str, default=()
        What stands for a missing value, beside the usual spellings.
    dates : {"day-first", "month-first"} or None, default=None
        What comes first in dates such as 01/02/2020, where a column leaves it open; None for what is usual:
        the month before a slash, the day before a point or a dash.
    keep_duplicates : bool, default=False
        Whether columns that repeat another one exactly may be selected beside it.
    separator : str or None, default=None
        The character between two values of a text table; None to find it out.
    encoding : str or None, default=None
        Of a text file; None for UTF-8.
    header : bool, default=True
        Whether the first line of a text table holds names.
    task : {"classification", "regression"} or None, default=None
        What the target is for; None to tell by its values.
    grid : tuple of int or None, default=None
        Rows and columns of the picture whose pixels are the features.

    See Also
    --------
    load : Reads data so.

    Examples
    --------
    >>> from infused.data import Treatment
    >>> treatment = Treatment.make(target="kind", drop="id")
    >>> treatment.given()
    {'target': 'kind', 'drop': ('id',)}
    >>> Treatment.make(**treatment.given()) == treatment
    True
    """

    target: str | int | None = None
    target_file: str | None = None
    x_key: str | None = None
    y_key: str | None = None
    drop: tuple[str | int, ...] = ()
    use: tuple[str | int, ...] = ()
    impute: str | None = None
    one_hot: bool = False
    categories: str = "whole"
    as_category: tuple[str | int, ...] = ()
    missing: tuple[str, ...] = ()
    dates: str | None = None
    keep_duplicates: bool = False
    separator: str | None = None
    encoding: str | None = None
    header: bool = True
    task: str | None = None
    grid: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.target, str | int | None):
            raise InputError(
                Setting("target"), " takes the name or the position of a column: give values as a pair (X, y)"
            )
        if self.impute is not None:
            check_choice("impute", self.impute, IMPUTES)
        check_choice("categories", self.categories, CATEGORIES)
        if self.dates is not None:
            check_choice("dates", self.dates, DATES)
        if self.task is not None:
            check_choice("task", self.task, TASKS)
        if self.grid is not None and (len(self.grid) != 2 or min(self.grid) < 1):
            raise InputError(Setting("grid", self.grid), " must be a number of rows and a number of columns")

    @classmethod
    def make(cls, **options: Any) -> Treatment:
        """From options as people give them: one column or several, paths of any kind, lists for tuples.

        Parameters
        ----------
        **options : dict
            By name; None stands for the default.

        Returns
        -------
        Treatment
            The same in one form.
        """
        unknown = options.keys() - {field.name for field in fields(cls)}
        if unknown:
            raise InputError(f"there is no option {sorted(unknown)[0]!r} for reading data")
        given = {name: value for name, value in options.items() if value is not None}
        if isinstance(given.get("target"), Integral):
            given["target"] = int(given["target"])
        for name in ("drop", "use", "as_category", "missing"):
            if name in given:
                given[name] = several(given[name])
        if "missing" in given:
            given["missing"] = tuple(str(text) for text in given["missing"])
        if "target_file" in given:
            given["target_file"] = fspath(given["target_file"])
        if "grid" in given:
            given["grid"] = tuple(given["grid"])
        return cls(**given)

    def given(self) -> dict[str, Any]:
        """The options that are not their defaults.

        Returns
        -------
        dict
            By name.
        """
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {field.name: own[field.name] for field in fields(self) if own[field.name] != field.default}


def several(columns: str | int | Iterable[str | int]) -> tuple[str | int, ...]:
    """One column, or some."""
    return (columns,) if isinstance(columns, str | int) else tuple(columns)
