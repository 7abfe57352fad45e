"""Tasks on a cluster: the same answers as here, whatever happens to the workers, and nothing left behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing

import numpy as np
import pytest
from sklearn.datasets import load_wine

import infused
from infused._cluster import session as started
from infused._runtime.processes import current_cluster, each
from infused._runtime.threads import memory_budget
from infused.exceptions import InputError

PATIENCE_S = 60


def scaled_sum(data, n):
    time.sleep(0.05)
    return n * float(data.sum())


def failing(n):
    raise InputError(f"{n} is no good")


def tasks_of(client):
    """What the scheduler knows of, once messages that are under way have arrived."""
    end = time.monotonic() + PATIENCE_S
    while (names := client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))) and (
        time.monotonic() < end
    ):
        time.sleep(0.05)
    return names


def test_tasks_give_the_same_on_a_cluster_as_here(client):
    data = np.arange(5.0)
    here = list(each(scaled_sum, range(20), data))
    assert list(each(scaled_sum, range(20), data, n_jobs=2)) == here
    with infused.cluster(client):
        assert list(each(scaled_sum, range(20), data)) == here
    assert tasks_of(client) == []


def budget_of(task):
    return memory_budget()


def test_workers_see_the_settings(client):
    with infused.cluster(client), infused.config_context(memory_budget="5MB"):
        assert list(each(budget_of, range(4))) == [5_000_000] * 4


def test_a_worker_that_is_killed_costs_nothing_but_time(client):
    """Also where it alone had the data, which Dask cannot bring back."""
    data = np.arange(5.0)
    here = [scaled_sum(data, n) for n in range(40)]
    with infused.cluster(client), closing(each(scaled_sum, range(40), data)) as results:
        found = [next(results), next(results)]
        for pid in client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        assert [*found, *results] == here


def test_leaving_early_leaves_no_task_behind(client):
    with infused.cluster(client):
        with closing(each(scaled_sum, range(10_000), np.ones(3))) as results:
            assert next(results) == 0.0
            known = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
            assert known < 20, "tasks are handed out a few at a time"
        assert current_cluster() is not None
    assert tasks_of(client) == [] and current_cluster() is None


def test_folds_of_an_automatic_choice_are_the_same_there(client):
    X, y = load_wine(return_X_y=True)
    here = infused.Lasso(n_features_to_select="auto").fit(X, y)
    with infused.cluster(client):
        there = infused.Lasso(n_features_to_select="auto").fit(X, y)
        selection = infused.select((X, y), k="auto", method="anova")
    assert there.number_curve_ == here.number_curve_ and np.array_equal(there.ranking_, here.ranking_)
    assert selection.features == infused.select((X, y), k="auto", method="anova").features
    assert tasks_of(client) == []


def test_half_samples_and_trials_are_the_same_there(client):
    X, y = load_wine(return_X_y=True)
    stable = infused.StabilitySelection(infused.Lasso(n_features_to_select=4), n_pairs=4, random_state=0)
    auto = infused.AutoSelector(methods=["anova", "lasso"], cv=3)
    frequencies, ranking = stable.fit(X, y).frequencies_, auto.fit(X, y).ranking_
    curves = auto.curves_
    with infused.cluster(client):
        assert np.array_equal(stable.fit(X, y).frequencies_, frequencies)
        assert np.array_equal(auto.fit(X, y).ranking_, ranking) and auto.curves_ == curves
    assert tasks_of(client) == []


def test_what_a_task_raises_is_raised_here(client):
    with infused.cluster(client), pytest.raises(InputError, match="3 is no good"):
        list(each(failing, [3]))
    assert tasks_of(client) == []


def test_what_is_no_cluster_is_refused_in_one_line(monkeypatch):
    monkeypatch.setattr(started, "PATIENCE_S", 0.3)
    with pytest.raises(InputError, match=r"takes a distributed.Client"), infused.cluster("tcp://here:1"):
        pass
    for options, words in (
        ({"workers": 0}, "workers=0: give a whole number from 1"),
        ({"workers": 2, "scheduler": "tcp://here:1"}, "give one of them"),
        ({"scheduler": "here"}, "no scheduler of Dask answers there"),
        ({"scheduler": "tcp://127.0.0.1:9"}, "no scheduler of Dask answers there"),
    ):
        with pytest.raises(InputError, match=words), started.on_cluster(**options):
            pass
