"""What ``infused.select`` returns: the features, how they were found, and what can be done with them."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from infused._runtime.files import (
    Content,
    check_writable,
    csv_text,
    page_or_path,
    settle,
    write_together,
)
from infused._runtime.messages import count, extra
from infused._typing import Array, Floats
from infused.coding import Coding, Levels
from infused.coding import transformed as transformed_values
from infused.data import Dataset
from infused.data.reading import ReadOptions
from infused.data.recorded import read_recorded
from infused.exceptions import InputError, Setting
from infused.record.explained import dense_columns
from infused.record.schema import RecordError, SelectionRecord
from infused.record.sentences import verdict

if TYPE_CHECKING:
    from pandas import DataFrame
    from sklearn.pipeline import Pipeline


SHOWN = 3  # features in a short text

#: What a folder of results holds, in the order of writing.
FILES = ("selected.csv", "reduced.parquet", "report.html", "selection.json")

FIGURES = ("score", "alone", "unique", "frequency")
EFFECT = ("effect", "low", "high", "p_value")


class Selection:
    """Selected features, best first, with the record of how they were found.

    Parameters
    ----------
    record : SelectionRecord
        What was asked, of which data, and what came out.
    selector : selector, default=None
        The fitted one; None where the selection was read from a file.
    data : Dataset, default=None
        What was selected from; None where the selection was read from a file.

    Attributes
    ----------
    features : list of str
        Names, best first.
    table : DataFrame
        One row for each selected feature.

    See Also
    --------
    infused.select : Makes one.

    Examples
    --------
    >>> import infused
    >>> selection = infused.select("wine", k=2, method="anova")
    >>> selection
    <Selection: 2 of the 13 features of wine, by AnovaSelector: flavanoids, proline>
    >>> selection.table.columns.tolist()
    ['rank', 'feature', 'direction', 'score', 'alone', 'unique', 'group']
    >>> selection.apply("wine").shape
    (178, 2)
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = selection.save(folder, report=False)
    ...     infused.Selection.load(folder).features
    ['flavanoids', 'proline']
    """

    def __init__(self, record: SelectionRecord, selector: Any = None, data: Dataset | None = None):
        self.record = record
        self.selector = selector
        self.data = data

    @property
    def features(self) -> list[str]:
        """Return the names of the selected features, best first."""
        return [feature.name for feature in self.record.selected]

    @property
    def table(self) -> DataFrame:
        """Return the selected features by rank, with their figures.

        ``direction`` says for which values the target is higher, or a class more frequent; it is empty where
        that is not clear. ``score`` is the method's own. ``alone`` is what a feature explains of the target
        by itself, corrected for chance: the adjusted R² of a continuous target, McFadden's R² of classes.
        ``unique`` is what it adds to the others: the share of the target's variance that the selected
        features lose without it. ``frequency`` is its selection frequency in half-samples, where that was
        computed. Features of one ``group`` are redundant. Coefficients follow, where the method has them, and
        for times and events the hazard ratio of one standard deviation, or of the second of two levels.
        ``block`` and ``cost`` are there where these were given, and ``effect``, ``low``, ``high`` and
        ``p_value`` where intervals were asked for.
        """
        columns = _columns(self.record)
        group, direction = columns.pop("redundancy_group"), columns.pop("direction")
        ahead = {"rank": columns.pop("rank"), "feature": columns.pop("feature"), "direction": direction}
        figures = {name: columns.pop(name) for name in FIGURES if name in columns}
        # In a data frame names are words.
        others = {name.replace("coefficient_", "coefficient ", 1): values for name, values in columns.items()}
        others |= {"hazard ratio": others.pop("hazard_ratio")} if "hazard_ratio" in others else {}
        return extra("pandas").DataFrame({**ahead, **figures, "group": group, **others})

    def apply(
        self, data: Any, *, transformed: bool = False, id: str | None = None, **options: Any
    ) -> DataFrame:
        """Reduce data to the selected features, treated as the record says.

        Nothing is computed from the new data: one row gives what it gives among others. Missing numbers hold
        the recorded fill value. Categories hold the names of their levels; ``(other)`` stands for those that
        were pooled and for those that the selection had not seen, ``(missing)`` for a missing value. Where
        nothing was pooled, a level that was not seen is None, and so is a missing value where there was none.

        Parameters
        ----------
        data : path, name, data frame, pair (X, y) or AnnData
            Columns are found by name, whatever their order; a target is not needed.
        transformed : bool, default=False
            Whether to give the values as the selection saw them, where a transform was applied.
        id : str, default=None
            A column to keep as it is, in front of the features, such as the name of each sample.
        **options : dict
            How to read the data, as in :func:`infused.select`; by default as for the selection.

        Returns
        -------
        DataFrame
            One column for each selected feature, best first, with the index of the data if they have one.
        """
        pandas = extra("pandas")
        reading = self.record.request.reading.updated(**options)
        columns, notes, ids = applied(self.record, data, transformed, reading, id)
        given = data[0] if isinstance(data, tuple) else data
        index = given.index if isinstance(given, pandas.DataFrame) else None
        reduced = pandas.DataFrame(columns, index=index)
        if ids is not None:
            reduced.insert(0, id, ids)
        reduced.attrs["notes"] = notes  # what was done to the values
        return reduced

    def model(self, estimator: Any = None) -> Pipeline:
        """Fit a model to the selected features, which predicts new data and can be saved.

        A pipeline of scikit-learn, fitted to all samples, in three steps. ``features`` is a
        :class:`SelectedFeatures`: it finds the columns by name and codes them as the selection did (missing
        numbers hold the recorded fill value, a category has a 0/1 column for each level; its
        ``get_feature_names_out`` names them). ``scale`` brings them to one scale, and ``model`` predicts.

        Where the selection had a score, the model is of the kind that was scored, but for classes: logistic
        regression, which has probabilities; ridge regression for numbers; Cox's regression for times and
        events. It predicts the logarithm of the hazard, and its ``predict_survival`` the survival at given
        times. Its penalty is the one that is best by 5-fold cross-validation in the metric of the selection;
        a metric that counts rare classes as much as others also weighs them alike.

        Parameters
        ----------
        estimator : estimator of scikit-learn's kind, default=None
            Another model. It is cloned and fitted as it is; of times and events it is given a structured
            array of ``event`` and ``time``, as scikit-survival takes it.

        Returns
        -------
        Pipeline
            Fitted. ``joblib.dump`` saves it; load such files from sources that you trust only.

        Examples
        --------
        >>> import infused
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> model = infused.select((X, y), k=3, method="anova").model()
        >>> model.predict(X.tail(2))
        array([2, 2])
        >>> [name for name, _ in model.steps]
        ['features', 'scale', 'model']
        """
        from infused.bench.tuning import fitted_model

        if self.data is None:
            raise InputError(
                "the data are not in a selection that was read from a file: repeat it with infused.rerun, "
                "and take the model of its result (.again.model())"
            )
        if not self.record.selected:
            raise InputError("the selection has no features, so there is nothing to fit a model to")
        features = SelectedFeatures(self.record)
        chosen = [feature.index for feature in self.record.selected]
        levels = None if self.data.levels is None else tuple(self.data.levels[j] for j in chosen)
        F = features._columns(self.data.X[:, chosen], levels)
        return fitted_model(estimator, features, F, self.data, self.record.request)

    def save(
        self, folder: str | PathLike[str], *, force: bool = False, report: bool = True, reduced: bool = False
    ) -> list[Path]:
        """Write selected.csv, selection.json and the page report.html to a folder, all of them or none.

        Earlier results stay as they are until all new files are written aside: a full disk, an error or a
        kill leaves the old selection or the new one.

        Parameters
        ----------
        folder : path
            Made where it does not exist.
        force : bool, default=False
            Whether earlier results are replaced.
        report : bool, default=True
            Whether to write the page.
        reduced : bool, default=False
            Whether to write the data with the selected columns and the target alone, as reduced.parquet.

        Returns
        -------
        list of Path
            What was written.
        """
        if reduced and self.data is None:
            raise InputError("the data are not in a selection that was read from a file: use apply instead")
        table = reduced_table(self.record, self.data) if reduced and self.data is not None else None
        page = self.report() if report else None
        return write_outputs(folder, self.record, force=force, reduced=table, page=page)

    def report(self, path: str | PathLike[str] | None = None) -> str:
        """Return or write the page about the selection, which opens without a network.

        Parameters
        ----------
        path : path, default=None
            Where to write it; a file that is there is replaced.

        Returns
        -------
        str
            The page, or where a path was given, that path.
        """
        from infused.report.html.selection import render_report

        return page_or_path(render_report(self.record), path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Selection:
        """Read what :meth:`save` wrote: without the data and the fitted selector.

        Parameters
        ----------
        path : path
            A selection.json, or the folder that holds it.

        Returns
        -------
        Selection
            With its ``record``, ``features`` and ``table``.
        """
        return cls(read_record(path))

    def __len__(self) -> int:
        return len(self.record.selected)

    def __repr__(self) -> str:
        record, names = self.record, self.features
        first = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
        number = f"{len(names):,} of the {record.data.n_features:,} features of {record.data.name}"
        return f"<Selection: {number}, by {record.method_name}{': ' if first else ''}{first}>"

    def __str__(self) -> str:
        return "\n".join(map(str, verdict(self.record)))

    def _repr_html_(self) -> str:
        from infused.report.html.notebook import selection_html

        return selection_html(self.record)


class SelectedFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Read the selected features of any data as columns of numbers, coded as for the selection.

    Nothing is learned from the data: one row gives what it gives among others.

    Parameters
    ----------
    record : SelectionRecord
        What was selected, and how it was coded.

    See Also
    --------
    Selection.model : Makes a pipeline that begins with one.

    Examples
    --------
    >>> import infused
    >>> model = infused.select("wine", k=2, method="anova").model()
    >>> model["features"].get_feature_names_out()
    array(['flavanoids', 'proline'], dtype=object)
    >>> model["features"].transform("wine").shape
    (178, 2)
    """

    def __init__(self, record: SelectionRecord):
        self.record = record

    def fit(self, X: Any, y: Any = None) -> Self:
        """Return the transformer itself, as there is nothing to learn."""
        return self

    def transform(self, X: Any) -> Floats:
        """Read and code the selected features.

        Parameters
        ----------
        X : data frame, path, name, array or AnnData
            Columns are found by name, whatever their order; others do not matter.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            The columns that :meth:`get_feature_names_out` names.
        """
        features, _ = read_recorded(X, self.record.coding, self.record.request.reading)
        return self._columns(features.X, features.levels)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Name the columns: a number by its feature, a level as "feature=level"."""
        return np.array(Coding(self.record.coding, None).column_names(), dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _columns(self, X: Any, levels: Levels | None) -> Floats:
        coded = Coding(self.record.coding, levels).apply(dense_columns(X, slice(None)))
        names = self.get_feature_names_out().tolist()
        return np.asarray(transformed_values(coded.F, self.record.transform, names, coded.numeric))


def read_record(path: str | PathLike[str]) -> SelectionRecord:
    """Read the record in a selection.json, or in a folder that holds one; an error names the file."""
    file = Path(path)
    if file.is_dir():
        file = file / "selection.json"
    settle(file.parent, FILES)
    try:
        return SelectionRecord.from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{str(file)!r}: {error.strerror}") from error
    except RecordError as error:
        raise InputError(f"{str(file)!r}: ", *error.parts) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{str(file)!r} is no text: pass a selection.json") from error


def applied(
    record: SelectionRecord, data: Any, transformed: bool, reading: ReadOptions, id: str | None
) -> tuple[dict[str, Any], tuple[str, ...], list[Any] | None]:
    """Return the selected features of other data, treated as recorded, notes, and the column ``id``."""
    names = tuple(feature.name for feature in record.selected)
    if not names:
        raise InputError("the selection has no features, so there is nothing to apply")
    transform = record.transform if transformed else "none"
    variables = record.coding
    if id in names:
        raise InputError(Setting("id", id), " is a selected feature: leave it out")
    features, ids = read_recorded(data, variables, reading, id)
    levels = features.levels or (None,) * len(names)
    coding = Coding(variables, levels)
    columns: dict[str, Any] = {}
    counts = {"filled": 0, "unknown": 0}
    for j, one in enumerate(variables):
        values = dense_columns(features.X, [j])[:, 0]
        gaps = np.isnan(values)
        if one.levels is None:
            filled = np.where(gaps, one.fill or 0.0, values)
            columns[one.name] = transformed_values(filled[:, None], transform, [one.name])[:, 0]
            counts["filled"] += int(gaps.sum())
        else:
            told = np.array([*one.outcomes, None], dtype=object)
            outcome = coding.outcome(values, j)
            columns[one.name] = told[outcome]
            known = set(one.levels) | set(one.rare)
            new = [n for n, level in enumerate(levels[j] or ()) if level not in known]
            counts["unknown"] += int(np.isin(values, new).sum())
    return columns, _notes(counts), ids


def _notes(counts: dict[str, int]) -> tuple[str, ...]:
    notes = []
    if counts["filled"]:
        notes.append(f"{count(counts['filled'], 'missing value')} filled as recorded")
    if counts["unknown"]:
        notes.append(f"{count(counts['unknown'], 'value')} of categories that the selection had not seen")
    return tuple(notes)


def check_folder(folder: str | PathLike[str], force: bool) -> None:
    """Refuse a folder that cannot take the results; cheap, so ask before a long computation."""
    settle(Path(folder), FILES)
    _check_free(Path(folder), force)


def _check_free(folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder: choose another one")
    found = [name for name in FILES if (folder / name).exists()]
    if found and not force:
        raise InputError(
            f"{folder} holds earlier results ({', '.join(found)}): choose another folder, or replace them "
            "with ",
            Setting("force", True),
        )
    check_writable(folder)


def write_outputs(
    folder: str | PathLike[str],
    record: SelectionRecord,
    *,
    force: bool = False,
    reduced: Any = None,
    page: str | None = None,
) -> list[Path]:
    """Write selected.csv and selection.json, and where given reduced.parquet and report.html.

    ``reduced`` is an Arrow table. With ``force`` earlier results are replaced; those that are not written
    again are removed.

    All are written aside before the first of them is replaced, ``selection.json`` last: an error, a full disk
    or a kill leaves the earlier selection whole, or the new one. A kill between two renames leaves files of
    both, and the next command that reads or writes the folder finishes the rest. Two runs into one folder
    take turns, so that it holds the files of one of them.
    """
    folder = Path(folder)
    check_folder(folder, force)
    contents: dict[str, Content | None] = dict.fromkeys(FILES)
    contents["selected.csv"] = selected_csv(record).encode()
    contents["selection.json"] = record.to_json().encode()
    if reduced is not None:
        contents["reduced.parquet"] = _parquet(reduced)
    if page is not None:
        contents["report.html"] = page.encode()
    # Another run may have come first.
    write_together(folder, FILES, contents, check=lambda: _check_free(folder, force))
    return [folder / name for name in FILES if contents[name] is not None]


def _parquet(table: Any) -> bytes:
    buffer = io.BytesIO()
    extra("pyarrow.parquet").write_table(table, buffer)
    return buffer.getvalue()


def reduced_table(record: SelectionRecord, dataset: Dataset) -> Any:
    """Return the selected features in rank order, then the target, as an Arrow table."""
    pyarrow = extra("pyarrow")
    names = [feature.name for feature in record.selected]
    chosen = [feature.index for feature in record.selected]
    values = [_column(dataset, j) for j in chosen]
    target = dataset.target_name
    while target in names:
        target += "_"
    if dataset.kind == "survival":
        several, targets = [dataset.y["time"], dataset.y["event"]], [f"{target}_time", f"{target}_event"]
    else:
        several = list(dataset.y.reshape(dataset.n_samples, -1).T)
        targets = [target] if len(several) == 1 else [f"{target}_{n + 1}" for n in range(len(several))]
    columns = [*values, *map(pyarrow.array, several)]
    return pyarrow.table(columns, names=[*names, *targets])


def _column(dataset: Dataset, feature: int) -> Any:
    """Return a feature as an Arrow array: numbers, or names of levels; null for missing values."""
    pyarrow = extra("pyarrow")
    values = dense_columns(dataset.X, [feature])[:, 0]
    levels = None if dataset.levels is None else dataset.levels[feature]
    if levels is None:
        return pyarrow.array(values.copy(), from_pandas=True)
    return pyarrow.array([None if np.isnan(v) else levels[int(v)] for v in values], pyarrow.string())


def selected_csv(record: SelectionRecord) -> str:
    """Write one line for each selected feature: rank, feature, its figures, coefficients, redundancy group.

    A spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and feature names
    come from files that others wrote. Such a name gets an apostrophe in front, as spreadsheets themselves
    mark text; names that are numbers (``-1.5``) stay as they are. Who reads it takes the
    apostrophe away again; selection.json holds all names unchanged.
    """
    columns = _columns(record)
    return csv_text([list(columns), *zip(*columns.values(), strict=True)])


def _columns(record: SelectionRecord) -> dict[str, list[Any]]:
    """List what is known of the selected features, by the names of columns in selected.csv."""
    every, names = record.selected, record.coefficient_names
    own = {"rank": "rank", "feature": "name", **{name: name for name in ("score", "alone", "unique")}}
    columns = {title: [getattr(one, name) for one in every] for title, name in own.items()}
    if record.stability is not None:
        columns["frequency"] = [record.stability.frequencies[one.index] for one in every]
    for n, name in enumerate(names):
        title = f"coefficient_{name}" if len(names) > 1 else "coefficient"
        columns[title] = [one.coefficients and one.coefficients[n] for one in every]
    if record.request.costs is not None:
        columns["cost"] = [one.cost for one in every]
    if record.data.events is not None:
        columns["hazard_ratio"] = [None if one.hazard is None else one.hazard.ratio for one in every]
    if record.blocks:
        columns["block"] = [one.block for one in every]
    if record.intervals is not None:
        columns |= {name: [getattr(one.effect, name, None) for one in every] for name in EFFECT}
    columns["redundancy_group"] = [one.group for one in every]
    return {**columns, "direction": [one.direction for one in every]}
