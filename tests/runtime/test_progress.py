"""How far a computation is: one fraction that never falls, for callbacks of ours and of scikit-learn."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from rich.console import Console
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import infused
from infused._runtime.progress import Overall, Stage
from infused.exceptions import OperationCancelledError
from infused.selectors.registry import available_selectors, make_selector

WINE = load_wine(return_X_y=True)
LONG = ["infused-lasso", "in-elastic-net", "lasso", "greedy-forward", "mrmr", "jmi"]


def test_stages_fill_what_is_left():
    seen = []
    overall = Overall(lambda fraction, message: seen.append((round(fraction, 3), message)))
    for fraction, message in [(0, "a"), (1, "a"), (0, "b"), (0.5, "b"), (0, "b"), (1, "b")]:
        overall(fraction, message)
    overall.finish()
    reached = [fraction for fraction, _ in seen]
    assert reached == [0, 0.5, 0.5, 0.625, 0.625, 0.812, 1]
    assert seen[-1] == (1, "done")


@pytest.mark.parametrize("id", LONG)
def test_the_fraction_of_a_fit_never_falls(id):
    seen = []
    with infused.progress(lambda fraction, message: seen.append((fraction, message))):
        make_selector(id, n_features_to_select=3).fit(*WINE)
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < fractions[-1] == 1
    assert len(seen) > 3


def test_a_callback_cancels():
    with pytest.raises(OperationCancelledError), infused.progress(lambda fraction, message: False):
        infused.InFusedLasso().fit(*WINE)


def test_of_select_too():
    seen = []
    with infused.progress(lambda fraction, message: seen.append(fraction)):
        infused.select("wine", k="auto", method="anova")
    assert seen == sorted(seen)


def test_a_bar_is_drawn_in_a_terminal(monkeypatch):
    screen = io.StringIO()

    def console(**options):
        return Console(file=screen, force_terminal=True, width=100)

    monkeypatch.setattr("rich.console.Console", console)
    with infused.progress(patience=0.0):
        stage = Stage(None, "computing U", 4)
        stage.advance(2)
        time.sleep(0.3)
    assert "computing U" in screen.getvalue()
    assert "50%" in screen.getvalue()


class Recorder:
    """A callback as scikit-learn defines it."""

    def __init__(self, stop_after=None):
        self.begun, self.ended, self.stop_after = [], [], stop_after

    def setup(self, estimator, context):
        self.root = context

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context)

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context)
        return self.stop_after is not None and len(self.ended) >= self.stop_after

    def teardown(self, estimator, context):
        self.finished = True


class TestScikitLearnsCallbacks:
    @pytest.fixture(autouse=True)
    def has_callbacks(self):
        pytest.importorskip("sklearn.callback")

    @pytest.mark.parametrize("id", available_selectors())
    def test_every_selector_tells_them(self, id):
        recorder = Recorder()
        make_selector(id, n_features_to_select=3).set_callbacks(recorder).fit(*WINE)
        assert recorder.finished
        assert [context.task_id for context in recorder.ended] == [*range(100), 0]
        assert recorder.begun[0] is recorder.root is recorder.ended[-1]

    def test_results_are_the_same(self):
        plain = infused.InFusedLasso(n_features_to_select=3).fit(*WINE)
        told = infused.InFusedLasso(n_features_to_select=3).set_callbacks(Recorder()).fit(*WINE)
        np.testing.assert_array_equal(told.ranking_, plain.ranking_)
        np.testing.assert_array_equal(told.coef_, plain.coef_)

    def test_a_bar_around_hears_the_same(self):
        plain, beside = [], []
        with infused.progress(lambda *seen: plain.append(seen)):
            infused.MRMR(n_features_to_select=3).fit(*WINE)
        with infused.progress(lambda *seen: beside.append(seen)):
            infused.MRMR(n_features_to_select=3).set_callbacks(Recorder()).fit(*WINE)
        assert beside == plain

    def test_one_may_stop_a_fit(self):
        with pytest.raises(OperationCancelledError):
            infused.InFusedLasso().set_callbacks(Recorder(stop_after=1)).fit(*WINE)

    def test_inside_a_pipeline(self):
        recorder = Recorder()
        selector = infused.MRMR(n_features_to_select=3).set_callbacks(recorder)
        make_pipeline(StandardScaler(), selector).fit(*WINE)
        assert len(recorder.ended) == 101
