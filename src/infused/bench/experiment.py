"""What is compared: data sets x methods x repeats x folds, checked before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from infused.bench.cells import BenchmarkError, Cell, Method, Problem, Protocol, check_ks
from infused.bench.methods import check_method
from infused.bench.models import JUDGES, judge_named

__all__ = ["Experiment"]


@dataclass(frozen=True)
class Experiment:
    """Every method on every fold of every problem, under one protocol.

    Examples
    --------
    >>> from infused.bench import Experiment, Method, Problem
    >>> from infused.data import load_data
    >>> wine = Problem(load_data("wine"), ks=(2, 4))
    >>> experiment = Experiment((wine,), (Method("lasso"), Method("random")), folds=5)
    >>> len(experiment.cells())
    10
    """

    problems: tuple[Problem, ...]
    methods: tuple[Method, ...]
    repeats: int = 1
    folds: int = 10
    protocol: Protocol = "nested"
    classifier: str | None = None
    """By default a linear SVM; a ridge regression for real targets."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.problems or not self.methods:
            raise BenchmarkError("There is nothing to run: give at least one data set and one method.")
        _refuse_twice("data set", [problem.name for problem in self.problems])
        _refuse_twice("method", [str(one) for one in self.methods])
        if self.repeats < 1 or self.folds < 2:
            raise BenchmarkError(f"--repeats {self.repeats}, --folds {self.folds}: give at least 1 and 2.")
        if self.protocol not in get_args(Protocol):
            raise BenchmarkError(
                f"--protocol {self.protocol!r} is not one of {', '.join(get_args(Protocol))}."
            )
        if self.seed < 0:
            raise BenchmarkError(f"--seed {self.seed} is negative: give a whole number from 0.")
        for problem in self.problems:
            if check_ks(problem.ks, problem.name, problem.data.n_features) != problem.ks:
                raise BenchmarkError(f"The numbers of features for {problem.name} must increase.")
            _check_folds(problem, self.folds)
            judge_named(self._judge(problem), problem.data.task)
            for method in self.methods:
                check_method(method, problem.data.task)

    def cells(self) -> list[Cell]:
        """All cells, data set by data set."""
        return [
            Cell(
                dataset=problem.name,
                data=problem.fingerprint,
                method=method.name,
                parameters=method.parameters,
                protocol=self.protocol,
                classifier=self._judge(problem),
                ks=problem.ks,
                folds=self.folds,
                seed=self.seed,
                repeat=repeat,
                fold=fold,
            )
            for problem in self.problems
            for repeat in range(self.repeats)
            for fold in range(self.folds)
            for method in self.methods
        ]

    def _judge(self, problem: Problem) -> str:
        return self.classifier or next(iter(JUDGES[problem.data.task]))


def _refuse_twice(what: str, names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BenchmarkError(f"The {what} {twice} is there twice.")


def _check_folds(problem: Problem, folds: int) -> None:
    """Refuse more folds than the data can fill."""
    y, groups = problem.data.y, problem.groups
    if y.ndim > 1:
        raise BenchmarkError(f"{problem.name} has {y.shape[1]} targets: a benchmark takes one.")
    if groups is not None and len(groups) != len(y):
        raise BenchmarkError(f"{problem.name} has {len(y)} samples, but groups of {len(groups)}.")
    if groups is not None:
        most, what = len(np.unique(groups)), "groups"
    elif problem.data.task == "classification":
        most, what = int(np.unique(y, return_counts=True)[1].max()), "samples in its largest class"
    else:
        most, what = len(y), "samples"
    if folds > most:
        raise BenchmarkError(f"--folds {folds} is more than the {most} {what} of {problem.name}.")
