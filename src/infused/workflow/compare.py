"""``infused.compare``: which selector is best for these data, with how many features, and is it real?"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from infused._runtime.files import Content, page_or_path, write_together
from infused._runtime.progress import Stage, timed
from infused.bench import Progress, run_cells, run_experiment
from infused.bench.plan import Experiment, Problem, check_ks, default_ks
from infused.bench.protocol import EVALUATION_STOPPED
from infused.bench.rows import failed_cells, rows_frame
from infused.bench.standings import (
    BASELINE,
    Standings,
    agreement,
    compare_methods,
    joint_ranking,
    pareto_front,
    verdict,
)
from infused.bench.store import Store
from infused.bench.tables import standings_table
from infused.data import Dataset, load_data
from infused.exceptions import InputError, Setting
from infused.record.sentences import unit
from infused.selectors.method import Method, takes_survival
from infused.workflow.select import check_jobs, duplicates_note

if TYPE_CHECKING:
    from pandas import DataFrame


#: Different ideas, all quick; and what each of them must beat.
METHODS = ("infused-lasso", "lasso", "greedy-forward", "mrmr", "anova")
FILES = ("comparison.html", "comparison.csv")
MOST_RANKED = 100  # features in JSON


class Comparison:
    """Methods side by side on one data set, each at its best number of features.

    Parameters
    ----------
    standings : Standings
        What the folds say about the methods.
    experiment : Experiment
        What was run.

    Attributes
    ----------
    table : DataFrame
        One row for each method, the best first; then all features, and the majority class or the mean.
    verdict : str
        Which method is best, with how many features, whether that is more than chance, and whether dropping
        features costs anything.
    agreement : DataFrame
        Features x methods: the share of folds in which each method selected each feature.
    ranking : DataFrame
        The features ranked by all methods together.
    front : DataFrame
        The Pareto front of score and number of features, with its knee.
    rows : DataFrame
        Every result: one row for each method, fold and number of features.

    See Also
    --------
    infused.compare : Makes one.

    Examples
    --------
    >>> import infused
    >>> found = infused.compare("wine", methods=["anova", "mrmr"], k=[2, 4], folds=3)
    >>> sorted(found.table["method"])
    ['all features', 'anova', 'majority class', 'mrmr', 'random']
    """

    def __init__(self, standings: Standings, experiment: Experiment):
        self.standings = standings
        self.experiment = experiment

    @property
    def data(self) -> Dataset:
        """Return the data that the methods were compared on."""
        return self.experiment.problems[0].data

    @property
    def table(self) -> DataFrame:
        """Return one row for each method, the best first, then the references: how good, stable and fast."""
        return standings_table(self.standings).data

    @property
    def verdict(self) -> str:
        """Say in a few sentences which method is best, and whether that is certain."""
        hints = [f"{words[0].upper()}{words[1:]}." for words in self.data.hints]
        return " ".join([*hints, verdict(self.standings)])

    @property
    def rows(self) -> DataFrame:
        """Return every result, one row for each method, fold and number of features."""
        return self.standings.rows

    @property
    def agreement(self) -> DataFrame:
        """Return features x methods: the share of folds in which each method selected each feature.

        Those on which methods agree most come first; every method has as many features as the best.
        """
        return agreement(self.standings, self.data.feature_names)

    @property
    def ranking(self) -> DataFrame:
        """Return the features ranked by all methods together: by mean rank, and weighted by stability.

        Columns rank, mean_rank and weighted_rank: means over the folds of the rank that each method gives a
        feature, and over the methods, of which the weighted mean counts the more stable ones more. Random
        features have no part in it.
        """
        return joint_ranking(self.standings, self.data.feature_names)

    @property
    def front(self) -> DataFrame:
        """Return the Pareto front: methods and numbers of features that none beats with as few features.

        Columns method, k, mean, standard_error and knee, which is true for the point beyond which more
        features gain least.
        """
        found, factor = pareto_front(self.standings), unit(self.standings.metric)[0]
        found = found.assign(mean=factor * found["mean"], error=abs(factor) * found["error"])
        return found.rename(columns={"label": "method", "error": "standard_error"})

    @property
    def n_failed(self) -> int:
        """Count the methods that failed, once for each fold."""
        return len(failed_cells(self.rows))

    def report(self, path: str | PathLike[str] | None = None, *, command: str | None = None) -> str:
        """Return or write the page about the comparison, which opens without a network.

        Parameters
        ----------
        path : path, default=None
            Where to write it; a file that is there is replaced.
        command : str, default=None
            What to type to run it again.

        Returns
        -------
        str
            The page, or where a path was given, that path.
        """
        from infused.report import render_comparison

        page = render_comparison(
            self.standings,
            command=command,
            notes=self.data.notes,
            warnings=self.data.hints,
            names=self.data.feature_names,
        )
        return page_or_path(page, path)

    def save(
        self, folder: str | PathLike[str], *, report: bool = True, command: str | None = None
    ) -> list[Path]:
        """Write comparison.csv and the page comparison.html to a folder; what is there is replaced.

        Parameters
        ----------
        folder : path
            Made where it does not exist.
        report : bool, default=True
            Whether to write the page.
        command : str, default=None
            What to type to run it again.

        Returns
        -------
        list of Path
            What was written.
        """
        table = standings_table(self.standings).to_csv()
        contents: dict[str, Content | None] = {"comparison.csv": table.encode()}
        if report:
            contents["comparison.html"] = self.report(command=command).encode()
        write_together(Path(folder), FILES, contents)
        return [Path(folder) / name for name in contents]

    def to_json(self) -> str:
        """Return the answer, the figures and what was run, as JSON.

        Returns
        -------
        str
            An object with the keys verdict, metric, unit, data, experiment, methods, front and ranking.
        """
        experiment, standings = self.experiment, self.standings
        content = {
            "verdict": self.verdict,
            "metric": standings.metric,
            "why": standings.reason,
            "unit": unit(standings.metric)[1],
            "data": {
                "name": self.data.name,
                "fingerprint": self.data.fingerprint,
                "n_samples": self.data.n_samples,
                "n_features": self.data.n_features,
            },
            "experiment": {
                "methods": [str(method) for method in experiment.methods],
                "k": list(experiment.problems[0].ks),
                "folds": experiment.folds,
                "repeats": experiment.repeats,
                "protocol": experiment.protocol,
                "transform": experiment.transform,
                "classifier": experiment.classifier,
                "seed": experiment.seed,
            },
            "tied": standings.tied,
            "better_than": standings.beaten,
            "methods": _records(self.table),
            "front": _records(self.front),
            "ranking": _records(self.ranking.iloc[:MOST_RANKED].reset_index()),
            "n_failed": self.n_failed,
        }
        return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)

    def __repr__(self) -> str:
        n_methods = self.standings.methods["label"].nunique()
        return f"<Comparison of {n_methods} methods on {self.standings.dataset}: {self.verdict}>"

    def _repr_html_(self) -> str:
        from infused.report.html.notebook import comparison_html

        return comparison_html(self.standings, self.data.hints)


def _records(table: DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, with None for what is not a number."""
    return [
        {name: None if value != value else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def compare(
    data: Any,
    target: str | int | None = None,
    *,
    methods: Sequence[Any] | None = None,
    k: int | Iterable[int] | None = None,
    folds: int = 5,
    repeats: int = 1,
    scoring: str | None = None,
    transform: str = "auto",
    protocol: str = "nested",
    classifier: str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    timeout: float | None = None,
    store: str | PathLike[str] | None = None,
    watch: Callable[[Progress], None] | None = None,
    allow_imports: bool = False,
    **options: Any,
) -> Comparison:
    """Compare selectors on some data by cross-validation.

    Every method selects on the training part of each fold, and a model with these features is scored on the
    test part.

    Parameters
    ----------
    data : path, name, data frame, pair (X, y), AnnData or Dataset
        As in :func:`infused.select`.
    target : str or int, default=None
        The column to predict.
    methods : sequence of str or selectors, default=None
        Ids of :func:`infused.available_selectors`, with parameters after colons where wanted, or selectors;
        by default infused-lasso, lasso, greedy-forward, mrmr and anova, those of them that take the target.
        Random features are always added.
    k : int or sequence of int, default=None
        Numbers of features; by default even steps.
    folds : int, default=5
        Folds of the cross-validation.
    repeats : int, default=1
        Repeats of the cross-validation: more show smaller differences.
    scoring : str, default=None
        The metric, for which models are tuned too: "accuracy", "balanced_accuracy", "roc_auc",
        "average_precision", "f1" (macro), "r2", "mae", or another scorer of scikit-learn; for times and
        events "concordance" (Harrell's), "uno_concordance" or "integrated_brier". By default R² for a
        continuous target, and concordance for times and events. Of classes accuracy, unless the largest has
        three quarters of the samples or the smallest less than a fifth of an equal share: then ROC AUC for
        two classes, balanced accuracy for several.
    transform : {"auto", "none", "sqrt", "log1p"}, default="auto"
        Transform of the values; "auto" chooses it inside the training part of each fold.
    protocol : {"nested", "leaky"}, default="nested"
        "leaky" selects on all samples, as some published tables do; its scores are too good.
    classifier : str, default=None
        The evaluation model: "svm" (the default), "logistic", "knn", "random-forest", "ridge", or "cox" for
        times and events; where imports are allowed, also the dotted path of a class.
    seed : int, default=0
        Random seed.
    n_jobs : int, default=None
        Processes; None runs in this one, -1 takes every core. In a script, call this below
        ``if __name__ == "__main__"`` where there are several.
    timeout : float, default=None
        Most seconds for one method on one fold.
    store : path, default=None
        A folder that keeps results, as ``infused benchmark`` does: the same call again computes only what is
        missing. By default they are kept in memory.
    watch : callable, default=None
        Called with a ``Progress`` after every method on every fold.
    allow_imports : bool, default=False
        Whether methods and the classifier may be dotted paths of classes. The code that they name is imported
        and runs. A selector of your own that is given as such needs no leave.
    **options : dict
        How to read the data: drop, use, impute, as_category and the others of :func:`infused.select`.

    Returns
    -------
    Comparison
        Its ``verdict`` says which is best and whether the difference is real; its ``table`` has the figures.

    See Also
    --------
    select : Select with one method.

    Examples
    --------
    >>> import infused
    >>> found = infused.compare("wine", methods=["anova"], k=[2, 4], folds=3)
    >>> found.table["method"].tolist()
    ['anova', 'random', 'all features', 'majority class']
    """
    check_jobs(n_jobs)
    check_timeout(timeout)
    wanted_methods = [*(METHODS if methods is None else methods), BASELINE]
    chosen = [Method.given(method, allow_imports=allow_imports) for method in wanted_methods]
    with timed({}, "read", "reading the data"):
        dataset = _once(load_data(data, target=target, **options))
    if methods is None and dataset.kind == "survival":
        chosen = [one for one in chosen if takes_survival(one.info.load())]
    wanted = [k] if isinstance(k, int) else k
    ks = check_ks(wanted or default_ks(dataset.name, dataset.n_features), dataset.name, dataset.n_features)
    experiment = Experiment(
        problems=(Problem(dataset, ks),),
        methods=tuple(dict.fromkeys(chosen)),
        repeats=repeats,
        folds=folds,
        protocol=protocol,  # type: ignore[arg-type]  # an experiment checks it
        classifier=classifier,
        seed=seed,
        scoring=scoring,
        per_k=True,
        references=True,
        allow_imports=allow_imports,
        transform=transform,
    )
    start = perf_counter()
    rows = _rows(experiment, store, n_jobs, timeout, watch)
    seconds = perf_counter() - start
    _warn_of_stops(rows)
    metric, why = (scoring, "") if scoring is not None else experiment.problems[0].default_scoring
    standings = compare_methods(rows, metric=metric, reason=why)
    return Comparison(replace(standings, seconds=seconds), experiment)


def _once(dataset: Dataset) -> Dataset:
    """Drop exact duplicates of features, but none of an image."""
    duplicates = {} if dataset.grid_shape is not None else dataset.duplicates()
    if not duplicates:
        return dataset
    left = [j for j in range(dataset.n_features) if j not in duplicates]
    return replace(dataset.take(left), notes=(*dataset.notes, duplicates_note(dataset, duplicates)))


def _warn_of_stops(rows: DataFrame) -> None:
    """Warn where an evaluation model stopped before it converged."""
    stopped = rows["warnings"].fillna("").str.contains(EVALUATION_STOPPED, regex=False)
    n, every = rows.loc[stopped, "cell"].nunique(), rows["cell"].nunique()
    if n:
        warnings.warn(
            f"The evaluation model stopped at its limit of iterations in {n} of {every} evaluations: their "
            "scores may be too low. Another classifier may converge.",
            UserWarning,
            stacklevel=3,
        )


def check_timeout(timeout: float | None) -> None:
    """Refuse no time at all."""
    if timeout is not None and not timeout > 0:
        raise InputError(Setting("timeout", timeout), ": give a number of seconds above zero")


def _rows(
    experiment: Experiment,
    store: str | PathLike[str] | None,
    n_jobs: int | None,
    timeout: float | None,
    watch: Callable[[Progress], None] | None,
) -> DataFrame:
    """Compute the rows of the experiment, or what of them a store lacks."""
    cells = experiment.cells()
    stage = Stage(None, "comparing methods", len(cells))

    def report(progress: Progress) -> None:
        stage.advance()
        if watch is not None:
            watch(progress)

    if store is None:
        found = []
        with closing(run_cells(experiment, jobs=n_jobs or 1, timeout=timeout)) as stream:
            for progress in stream:
                found += progress.finished.rows
                report(progress)
        return rows_frame(found)
    kept = Store(Path(store))
    run_experiment(experiment, kept, jobs=n_jobs or 1, timeout=timeout, report=report)
    rows = kept.frame()
    return rows[rows["cell"].isin([cell.key for cell in cells])]
