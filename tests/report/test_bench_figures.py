"""The figures of a benchmark: what is drawn, where, and that leaky ones say so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from infused.bench import paper
from infused.bench.rows import of_protocol
from infused.bench.statistics import rank_comparison, score_summary
from infused.report.plots.benchmark import (
    COLOURS,
    method_styles,
    plot_accuracy_curves,
    plot_accuracy_grid,
    plot_critical_difference,
)
from tests.bench.made_rows import METHODS, make_rows


def lines_of(ax):
    return {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}


def test_curves_are_the_means_and_bands_their_errors():
    rows = make_rows(("USPS",))
    ax = plot_accuracy_curves(rows, published=True)
    summary = score_summary(of_protocol(rows), "accuracy").set_index("label")
    lines = lines_of(ax)
    assert set(lines) == {*METHODS, "infused-lasso, published"}
    for label in METHODS:
        np.testing.assert_allclose(lines[label].get_ydata(), 100 * summary.loc[label, "mean"])
        np.testing.assert_array_equal(lines[label].get_xdata(), [5, 10, 20])
    assert len(ax.collections) == len(METHODS)
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    first = summary.loc[next(iter(lines))]
    assert band.max() == pytest.approx(100 * (first["mean"] + first["error"]).max())
    assert (
        (lines["infused-lasso, published"].get_xdata()[0]) == paper.published_score("infused-lasso", "USPS").k
    )
    assert ax.get_title() == "USPS"
    assert ax.get_ylabel() == "Accuracy (%)"
    assert ax.get_legend() is not None


def test_one_panel_for_each_data_set_and_one_legend():
    rows = make_rows((*paper.DATASETS[3:], "wine"))
    figure = plot_accuracy_grid(rows, columns=4)
    shown = [ax for ax in figure.axes if ax.axison]
    assert [ax.get_title() for ax in shown] == [*paper.DATASETS[3:], "wine"]
    assert len(figure.legends) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "infused-lasso", "anova", "mrmr", "random",
    ]  # fmt: skip
    assert all(ax.get_legend() is None for ax in shown)
    colours = [{name: line.get_color() for name, line in lines_of(ax).items()} for ax in shown]
    assert all(one == colours[0] for one in colours), "a method looks the same in every panel"


def test_sixteen_methods_can_be_told_apart():
    styles = method_styles([f"m{n}" for n in range(14)] + ["infused-lasso", "random"])
    looks = {(s["color"], s["marker"], s["linestyle"]) for s in styles.values()}
    assert len(looks) == 16
    assert len(set(COLOURS)) == len(COLOURS)


def test_leaky_figures_say_so():
    both = pd.concat([make_rows(("a", "b")), make_rows(("a", "b"), protocol="leaky")])
    assert "LEAKY" in plot_accuracy_grid(both, protocol="leaky").axes[0].get_title()
    assert "LEAKY" not in plot_accuracy_grid(both).axes[0].get_title()
    assert "LEAKY" in plot_critical_difference(rank_comparison(both, protocol="leaky")).get_title()
    with pytest.raises(ValueError, match="cannot be mixed"):
        plot_accuracy_curves(both[both["dataset"] == "a"])


def test_ranks_lie_where_they_belong():
    ranks = rank_comparison(make_rows(("a", "b", "c")))
    ax = plot_critical_difference(ranks)
    texts = {text.get_text().strip() for text in ax.texts}
    for label, rank in zip(ranks.labels, ranks.mean_ranks, strict=True):
        assert f"{label} ({rank:.2f})" in texts
    assert f"critical difference {ranks.critical_difference:.2f}" in texts
    assert ax.xaxis_inverted(), "the best is to the right"
    bars = [line for line in ax.get_lines() if line.get_linewidth() == 4]
    assert len(bars) == len(ranks.groups)
    first, last = ranks.groups[0]
    assert bars[0].get_xdata()[0] == pytest.approx(ranks.mean_ranks[first] - 0.04)
    assert bars[0].get_xdata()[1] == pytest.approx(ranks.mean_ranks[last] + 0.04)


def test_regression_curves_show_r2():
    ax = plot_accuracy_curves(make_rows(("diabetes",), regression=True))
    assert ax.get_ylabel() == "R²"
    assert lines_of(ax)["random"].get_ydata().max() < 1
