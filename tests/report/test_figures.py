"""What is drawn equals the numbers that it stands for."""

from __future__ import annotations

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold

import infused
from infused import FeatureGraph, InFusedLasso, StabilitySelection, make_selector, structural_information
from infused.exceptions import InputError
from infused.report import (
    plot_coefficients,
    plot_convergence,
    plot_feature_graph,
    plot_selection,
    plot_stability,
    plot_structure,
)
from tests.record import records


def by_rank(selector):
    return np.argsort(selector.ranking_)[: selector.support_.sum()]


def tick_names(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def image_of(ax):
    (image,) = ax.images
    return image


def colorbar_of(ax):
    return image_of(ax).colorbar


def renders(ax):
    ax.figure.canvas.draw()  # layout and text problems only appear here, and warnings are errors


def test_matplotlib_is_loaded_late_and_chooses_no_backend():
    code = """
import sys, infused
infused.InFusedLasso
assert "matplotlib" not in sys.modules
import infused.report
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


class TestConvergence:
    def test_the_line_is_the_objective(self, fitted):
        ax = plot_convergence(fitted)
        line, stop = ax.lines
        path = fitted.objective_path_
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([np.arange(len(path)) + 1, path]))
        np.testing.assert_array_equal(stop.get_xydata(), [[len(path), path[-1]]])
        assert f"iteration {len(path)}" in ax.get_legend().get_texts()[0].get_text()
        assert f"converged, certificate {fitted.certificate_:.1e}" in ax.get_title()
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("Iteration", "Objective")
        renders(ax)

    def test_the_gap_is_the_distance_to_the_last_objective(self, fitted):
        ax = plot_convergence(fitted, gap=True)
        path = fitted.objective_path_
        shown = ax.lines[0].get_ydata()
        np.testing.assert_array_equal(np.nan_to_num(shown), np.abs(path - path[-1]))
        assert np.isnan(shown[-1])
        assert ax.get_yscale() == "log"
        assert ax.lines[1].get_xdata()[0] == len(path)
        renders(ax)

    @pytest.mark.parametrize("path", [[0.5], [1.0, 1.0], [np.inf, -np.inf]])
    def test_a_gap_that_a_logarithm_cannot_show_is_refused(self, fitted, path):
        flat = clone(fitted)
        flat.__dict__.update(vars(fitted), objective_path_=np.array(path))
        with pytest.raises(ValueError, match="use gap=False"):
            plot_convergence(flat, gap=True)
        renders(plot_convergence(flat))

    @pytest.mark.parametrize(
        ("state", "words"),
        [
            ({"converged_": False, "certificate_": 0.02}, "did not converge, certificate 2.0e-02"),
            ({"converged_": False, "certificate_": 3e292}, "did not converge, no certificate"),
            ({"converged_": False, "certificate_": np.nan}, "did not converge, no certificate"),
            ({"unbounded_": True}, "has no minimum"),
        ],
    )
    def test_the_title_says_how_far_to_trust_it(self, fitted, state, words):
        other = clone(fitted)
        other.__dict__.update({**vars(fitted), **state})
        assert words in plot_convergence(other).get_title()


class TestCoefficients:
    def test_classes_are_a_heat_map(self, fitted):
        ax = plot_coefficients(fitted)
        best = by_rank(fitted)
        np.testing.assert_array_equal(image_of(ax).get_array(), fitted.coef_[:, best])
        low, high = image_of(ax).get_clim()
        assert low == -high == -np.abs(fitted.coef_).max()  # zero is white
        assert tick_names(ax.xaxis) == [str(n) for n in best]
        assert tick_names(ax.yaxis) == [str(n) for n in range(10)]
        assert "Coefficient" in colorbar_of(ax).ax.get_ylabel()
        assert "8 selected features" in ax.get_title()
        renders(ax)

    def test_one_target_is_stems_with_names(self, fitted_cells, cells):
        ax = plot_coefficients(fitted_cells)
        best = by_rank(fitted_cells)
        heights = fitted_cells.coef_[0, best]
        np.testing.assert_array_equal(ax.lines[1].get_ydata(), heights)
        (stems,) = ax.collections
        np.testing.assert_array_equal(
            [stem[:, 1] for stem in stems.get_segments()], [[0, h] for h in heights]
        )
        assert tick_names(ax.xaxis) == list(cells[0].columns[best])
        assert ax.get_ylabel() == "Coefficient (standardised units)"
        renders(ax)

    @pytest.mark.parametrize("top", [1, 3, 100])
    def test_top_takes_the_best(self, fitted, top):
        ax = plot_coefficients(fitted, top=top)
        best = by_rank(fitted)[:top]
        np.testing.assert_array_equal(image_of(ax).get_array(), fitted.coef_[:, best])
        assert (f"{top} best of" in ax.get_title()) == (top < 8)
        renders(ax)

    @pytest.mark.parametrize("n_targets", [1, 3])
    def test_thousands_of_features(self, rng, n_targets):
        X = rng.normal(size=(20, 2000))
        y = X[:, :n_targets] + rng.normal(size=(20, n_targets))
        y = y.ravel() if n_targets == 1 else y
        s = InFusedLasso(lambda3=0.0, n_features_to_select=2000, ranking="coefficient", tol=0.1).fit(X, y)
        assert len(tick_names(plot_coefficients(s).xaxis)) == 30
        ax = plot_coefficients(s, top=2000)
        assert len(tick_names(ax.xaxis)) <= 30
        renders(ax)

    def test_long_names_and_dollar_signs_are_text(self, cells):
        X = cells[0].iloc[:, :4]
        X.columns = ["a" * 20 + "b" * 20, "$\\broken$", "c", "d"]
        ax = plot_coefficients(InFusedLasso(n_features_to_select=4).fit(X, cells[1]))
        assert set(tick_names(ax.xaxis)) == {"a" * 12 + "…" + "b" * 12, "$\\broken$", "c", "d"}
        renders(ax)

    @pytest.mark.parametrize("top", [0, -1, 2.5, "all"])
    def test_bad_top_is_refused(self, fitted, top):
        with pytest.raises(ValueError, match="top must be a positive whole number"):
            plot_coefficients(fitted, top=top)

    def test_nothing_selected_is_refused(self, cells):
        empty = InFusedLasso(lambda1=5.0, lambda3=0.0).fit(*cells)
        with pytest.raises(ValueError, match="lower lambda1"):
            plot_coefficients(empty)


class TestStructure:
    def test_selected_features_by_rank(self, fitted, digits):
        X, y = digits
        best = by_rank(fitted)
        ax = plot_structure(fitted, X, y)
        U = structural_information(X[:, best], y)
        np.testing.assert_array_equal(image_of(ax).get_array(), U)
        np.testing.assert_allclose(U, structural_information(X, y)[np.ix_(best, best)], atol=1e-9)
        assert tick_names(ax.xaxis) == tick_names(ax.yaxis) == [str(n) for n in best]
        assert colorbar_of(ax).ax.get_ylabel() == "Structural information U"
        assert ax.get_xlabel() == "Feature, best first"
        renders(ax)

    def test_colours_are_spread_over_the_entries_off_the_diagonal(self, rng):
        U = 2 + 1e-4 * rng.normal(size=(30, 30))
        np.fill_diagonal(U, 1.0)
        ax = plot_structure(U)
        expected = np.percentile(U[~np.eye(30, dtype=bool)], [1, 99])
        np.testing.assert_allclose(image_of(ax).get_clim(), expected)
        assert colorbar_of(ax).extend == "both"
        renders(ax)

    @pytest.mark.parametrize("U", [[[2.0]], np.full((3, 3), 2.0), np.zeros((2, 2))])
    def test_a_constant_matrix_has_a_colour_scale(self, U):
        ax = plot_structure(U)
        low, high = image_of(ax).get_clim()
        assert low < high
        renders(ax)

    def test_features_of_a_matrix(self, rng):
        U = rng.normal(size=(6, 6))
        ax = plot_structure(U, features=[4, 0])
        np.testing.assert_array_equal(image_of(ax).get_array(), U[np.ix_([4, 0], [4, 0])])
        assert tick_names(ax.xaxis) == ["4", "0"]
        mask = np.arange(6) >= 4
        np.testing.assert_array_equal(image_of(plot_structure(U, features=mask)).get_array(), U[4:, 4:])

    def test_features_by_name(self, fitted_cells, cells):
        X, y = cells
        ax = plot_structure(fitted_cells, X, y, features=["mean area", "mean radius"])
        np.testing.assert_array_equal(
            image_of(ax).get_array(), structural_information(X[["mean area", "mean radius"]], y)
        )
        assert tick_names(ax.xaxis) == ["mean area", "mean radius"]

    def test_it_takes_the_graph_of_the_selector_and_sparse_data(self, digits):
        X, y = digits
        s = InFusedLasso(n_features_to_select=4, graph="euclidean").fit(X, y)
        U = structural_information(X[:, by_rank(s)], y, graph="euclidean")
        for kind in (sp.csr_array, sp.csc_array):
            np.testing.assert_allclose(image_of(plot_structure(s, kind(X), y)).get_array(), U, atol=1e-9)

    @pytest.mark.parametrize(
        ("features", "message"),
        [
            ([], "features must be positions"),
            ([0.5], "features must be positions"),
            ([[0, 1]], "features must be positions"),
            (["a"], "features must be positions"),
            (np.zeros(6, dtype=bool), "features must be positions"),
            (np.ones(5, dtype=bool), "features must be positions"),
            ([6], "between 0 and 5"),
            ([-1], "between 0 and 5"),
        ],
    )
    def test_bad_features_are_refused(self, features, message):
        with pytest.raises(ValueError, match=message):
            plot_structure(np.eye(6), features=features)

    def test_bad_matrices_are_refused(self):
        with pytest.raises(ValueError, match="must be square"):
            plot_structure(np.ones((2, 3)))
        with pytest.raises(ValueError, match="U contains NaN"):
            plot_structure([[np.nan]])
        with pytest.raises(ValueError, match="leave them out"):
            plot_structure(np.eye(2), np.ones((3, 2)), [0, 1, 1])

    def test_bad_data_are_refused(self, fitted, fitted_cells, digits, cells):
        X, y = digits
        with pytest.raises(ValueError, match="pass the X and y"):
            plot_structure(fitted)
        with pytest.raises(ValueError, match="expecting 64 features"):
            plot_structure(fitted, X[:, :5], y)
        with pytest.raises(ValueError, match="pass one column of y"):
            plot_structure(fitted, X, np.column_stack([y, y]))
        with pytest.raises(ValueError, match="'nonsense', which is no column"):
            plot_structure(fitted_cells, *cells, features=["nonsense"])


class TestFeatureGraph:
    @pytest.mark.parametrize("graph", ["kernel", "euclidean"])
    def test_panels_are_the_adjacencies_sorted_by_class_and_value(self, rng, graph):
        f, y = rng.normal(size=40), rng.permutation(np.repeat(["b", "a"], 20)).astype(object)
        left, right = plot_feature_graph(f, y, graph=graph)
        order = sorted(range(40), key=lambda a: (y[a], f[a]))
        for ax, g in (
            (left, FeatureGraph(f, graph=graph)),
            (right, FeatureGraph.of_target(f, y, graph=graph)),
        ):
            np.testing.assert_allclose(
                image_of(ax).get_array(), g.adjacency()[np.ix_(order, order)], atol=1e-13
            )
            assert tick_names(ax.xaxis) == tick_names(ax.yaxis) == ["a", "b"]
            np.testing.assert_array_equal(ax.get_xticks(), [9.5, 29.5])  # in the middle of each class
            assert sorted(line.get_xdata()[0] for line in ax.lines) == [
                0,
                19.5,
            ]  # across, and down between them
            assert "sorted by class" in ax.get_xlabel()
        assert image_of(left).get_clim() == image_of(right).get_clim()
        assert "Graph of the feature" in left.get_title()
        assert "target graph" in right.get_title()
        renders(left)

    @pytest.mark.parametrize("graph", ["kernel", "euclidean"])
    def test_a_real_target(self, rng, graph):
        f, y = rng.normal(size=30), 100 * rng.normal(size=30)
        left, right = plot_feature_graph(f, y, graph=graph)
        order = np.argsort(y)
        expected = FeatureGraph(y[order], graph=graph).adjacency()
        np.testing.assert_allclose(image_of(right).get_array(), expected, atol=1e-13)
        assert right.get_xlabel() == "Sample, sorted by target"
        same_scale = image_of(left).get_clim() == image_of(right).get_clim()
        assert same_scale == (graph == "kernel")  # distances are in the units of f and of y
        renders(left)

    def test_of_many_samples_a_part_with_the_means_of_all(self, rng):
        f, y = rng.normal(size=1201), np.arange(1201) % 3
        left, right = plot_feature_graph(f, y, graph="euclidean")
        means = [f[y == c].mean() for c in range(3)]
        blocks = image_of(right).get_array()
        assert blocks.shape == image_of(left).get_array().shape == (500, 500)
        np.testing.assert_allclose(blocks[0, -1], abs(means[0] - means[2]))
        assert image_of(left).get_array()[0, -1] == abs(f[y == 0].min() - f[y == 2].max())
        assert "500 of 1201 samples" in left.get_title()
        assert "500 of 1201 samples" in right.get_title()

    def test_the_name_of_a_series_is_in_the_title(self, cells):
        X, y = cells
        left, _ = plot_feature_graph(X["mean area"], y)
        assert "'mean area'" in left.get_title()

    def test_a_constant_feature(self):
        left, right = plot_feature_graph(np.ones(6), [0, 1] * 3)
        np.testing.assert_array_equal(image_of(left).get_array(), np.ones((6, 6)))
        np.testing.assert_array_equal(image_of(right).get_array(), np.ones((6, 6)))
        renders(left)

    @pytest.mark.parametrize(
        ("f", "y", "options", "message"),
        [
            (np.ones((4, 2)), [0, 1, 0, 1], {}, "a vector of samples"),
            ([0.0, 1.0, 2.0], [0, 1], {}, "inconsistent numbers of samples"),
            ([0.0, 1.0, 2.0], [0, 0, 0], {}, "greater than one"),
            ([0.0, 1.0, 2.0], [0, 1, 1], {"graph": "tree"}, "graph='tree' is not known"),
        ],
    )
    def test_bad_input_is_refused_before_a_figure_is_made(self, f, y, options, message):
        with pytest.raises(ValueError, match=message):
            plot_feature_graph(f, y, **options)
        assert not plt.get_fignums()

    def test_given_axes_are_used(self, rng):
        figure, axes = plt.subplots(2, 1)
        pair = plot_feature_graph(rng.normal(size=9), np.arange(9) % 2, ax=axes)
        assert list(pair) == list(axes)
        assert plt.get_fignums() == [figure.number]
        renders(axes[0])

    @pytest.mark.parametrize("n", [1, 3])
    def test_other_than_two_axes_are_refused(self, rng, n):
        axes = plt.subplots(1, n)[1]
        with pytest.raises(ValueError, match="pair of matplotlib Axes"):
            plot_feature_graph(rng.normal(size=9), np.arange(9) % 2, ax=axes)


@pytest.fixture(scope="module")
def selection():
    return infused.select("wine", k=4, transform="sqrt")


class TestSelections:
    def test_names_are_those_of_the_data(self, selection):
        for plot in (plot_coefficients, plot_structure):
            assert tick_names(plot(selection).xaxis) == selection.features
        assert plot_convergence(selection).get_title().startswith("InFusedLasso converged")

    def test_the_structure_is_that_of_what_was_fitted(self, selection):
        data = selection.data
        U = structural_information(np.sqrt(data.take(selection.features).X), data.y)
        np.testing.assert_allclose(image_of(plot_structure(selection)).get_array(), U, atol=1e-12)
        ax = plot_structure(selection, features=["proline", "alcohol"])
        assert tick_names(ax.xaxis) == ["proline", "alcohol"]

    def test_one_from_a_file_has_no_selector(self, selection, tmp_path):
        selection.save(tmp_path, report=False)
        with pytest.raises(ValueError, match="does not hold the fitted selector: select again"):
            plot_convergence(infused.Selection.load(tmp_path))


def test_all_that_there_is_can_be_seen():
    assert {"plot_convergence", "plot_structure", "render_report"} <= set(dir(infused.report))
    assert "report" in dir(infused)
    for name in dir(infused.report):
        assert callable(getattr(infused.report, name))


PLOTS = [
    pytest.param(lambda s, data, **options: plot_convergence(s, **options), id="convergence"),
    pytest.param(lambda s, data, **options: plot_coefficients(s, **options), id="coefficients"),
    pytest.param(lambda s, data, **options: plot_structure(s, *data, **options), id="structure"),
]


@pytest.mark.parametrize("plot", PLOTS)
class TestEveryPlotOfASelector:
    @pytest.mark.parametrize("layout", [None, "constrained", "tight"])
    def test_a_given_ax_is_used(self, plot, fitted, digits, layout):
        figure, (ax, other) = plt.subplots(1, 2, layout=layout, figsize=(12, 5))
        assert plot(fitted, digits, ax=ax) is ax
        assert plt.get_fignums() == [figure.number]
        assert not other.has_data()
        renders(ax)

    def test_without_ax_there_is_a_figure_of_its_own(self, plot, fitted, digits):
        before = plt.figure()
        ax = plot(fitted, digits)
        assert ax.figure is not before
        assert len(plt.get_fignums()) == 2
        assert ax.get_title()
        assert ax.get_xlabel()
        assert ax.get_ylabel()

    def test_unfitted_selectors_are_refused(self, plot, digits):
        with pytest.raises(NotFittedError):
            plot(InFusedLasso(), digits)

    def test_other_selectors_are_refused(self, plot, digits):
        with pytest.raises(ValueError, match="VarianceThreshold has no"):
            plot(VarianceThreshold().fit(*digits), digits)
        assert not plt.get_fignums()

    def test_an_array_of_axes_is_refused(self, plot, fitted, digits):
        with pytest.raises(ValueError, match="ax must be one matplotlib Axes, got ndarray"):
            plot(fitted, digits, ax=plt.subplots(1, 2)[1])


def test_the_frequencies_and_the_path_of_stability_selection():
    frame, y = load_wine(return_X_y=True, as_frame=True)
    selector = StabilitySelection("anova", n_pairs=5, random_state=0).fit(frame, y)
    bars = plot_stability(selector, top=6)
    best = frame.columns[np.argsort(selector.ranking_)[:6]]
    assert [one.get_text()[:8] for one in bars.get_yticklabels()] == [name[:8] for name in best]
    widths = [one.get_width() for one in bars.patches]
    np.testing.assert_allclose(widths, np.sort(selector.frequencies_)[:-7:-1])
    assert bars.get_title().startswith(f"{selector.n_stable_} stable, at most")
    path = plot_stability(selector, path=True, top=6)
    drawn = {tuple(line.get_ydata()) for line in path.lines[:-1]}
    assert drawn == {tuple(row) for row in selector.path_[:, np.argsort(selector.ranking_)[:6]].T}
    with pytest.raises(InputError, match="AnovaSelector is no fitted StabilitySelection"):
        plot_stability(make_selector("anova"))


def test_every_bar_has_its_name(rng):
    X = rng.normal(size=(40, 45))
    selector = StabilitySelection("anova", n_pairs=3, random_state=0).fit(X, np.arange(40) % 2)
    assert len(plot_stability(selector, top=45).get_yticklabels()) == 45


@pytest.mark.parametrize("name", ["cells", "digits", "diabetes", "halved"])
def test_the_main_result_is_drawn_from_the_numbers_of_the_page(name):
    record = getattr(records, f"{name}_record")()
    ranking, values, redundancy, stability = plot_selection(infused.Selection(record))
    best = record.selected[:30]
    bars = [bar.get_width() for bar in ranking.patches]
    assert bars[: len(best)] == pytest.approx([100 * one.alone for one in best])
    assert bars[len(best) :] == pytest.approx([100 * one.unique for one in best])
    assert values.get_title() == f"Values of {best[0].name}"
    assert redundancy.images[0].get_array().max() == pytest.approx(1.0)
    if record.stability is not None:
        shares = [bar.get_width() for bar in stability.patches]
        assert shares == pytest.approx([record.stability.frequencies[one.index] for one in best])
    elif record.number is None:
        assert "not measured" in stability.texts[0].get_text()


def test_a_plot_of_a_selection_needs_one(fitted_cells):
    with pytest.raises(InputError, match="is no Selection"):
        plot_selection(fitted_cells)
    with pytest.raises(InputError, match="four matplotlib Axes"):
        plot_selection(infused.Selection(records.cells_record()), axes=plt.subplots()[1])
