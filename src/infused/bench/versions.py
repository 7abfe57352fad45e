"""Which rows of a store an earlier version of a selector, or of the protocol, measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infused.bench.plan import PROTOCOL_VERSION
from infused.exceptions import InputError
from infused.selectors.versions import FIRST, selector_version

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["older", "superseded"]


def older(rows: DataFrame) -> Series:
    """Whether a row was measured by another version than today's.

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell; without columns of versions, all are today's.

    Returns
    -------
    Series of bool
    """
    if "selector_version" not in rows.columns:
        return rows["method"].map(lambda _: False).astype(bool)
    todays = rows["method"].map({id: _todays(id) for id in rows["method"].unique()})
    return (rows["selector_version"] != todays) | (rows["protocol_version"] != PROTOCOL_VERSION)


def superseded(rows: DataFrame) -> Series:
    """What a row's label adds where one method was measured in several versions: its own, if not today's.

    So no line of a table mixes two versions. A method that was measured in one version only keeps its name,
    and a note says so where that is not today's.
    """
    if "selector_version" not in rows.columns:
        return rows["method"].map(lambda _: "")
    versions = rows["selector_version"] + "/" + rows["protocol_version"]
    several = versions.groupby([rows["method"], rows["parameters"]]).transform("nunique") > 1
    words = " (version " + rows["selector_version"]
    other = rows["protocol_version"] != PROTOCOL_VERSION
    words = words + (", protocol " + rows["protocol_version"]).where(other, "") + ")"
    return words.where(several & older(rows), "")


def _todays(id: str) -> str:
    try:
        return selector_version(id)
    except InputError:  # of a package that is not installed
        return FIRST
