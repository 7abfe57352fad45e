"""The protocol: what is chosen on which samples, against scikit-learn's own parts and against chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from infused import available_selectors, make_selector
from infused._runtime.threads import one_blas_thread
from infused.bench import Experiment, Problem, default_ks, evaluate
from infused.bench.protocol import split_of
from infused.bench.store import COLUMNS
from infused.bench.tuning import seed_for
from infused.cli import main
from infused.data import Dataset, load_data
from infused.exceptions import InputError
from infused.information.structural import sharing
from infused.penalties.quadratic import Ridge
from infused.samples import Samples
from infused.selectors.choose.evaluators import LinearSVM, evaluator_named
from infused.selectors.linear.model import SparseModel
from infused.selectors.method import Method, canonical_json, prepared, typed_value
from infused.selectors.registry import ABLATIONS
from tests.bench.odd_selectors import Listening
from tests.selectors.family import DRAWN


@pytest.fixture(autouse=True)
def one_thread():
    """As in a worker."""
    with one_blas_thread():
        yield


def make_data(X, y, kind="classes", name="made"):
    names = tuple(f"f{j}" for j in range(X.shape[1]))
    return Dataset(name, X, y, names, "y", kind, name)


def noise(seed, n_samples=60, n_features=300):
    rng = np.random.default_rng(seed)
    return make_data(rng.normal(size=(n_samples, n_features)), rng.permutation(np.arange(n_samples) % 2))


def cells_of(data, method="anova", ks=(2, 4), groups=None, **options):
    samples = Samples.given(groups, None, data.n_samples)
    problem = Problem(replace(data, samples=samples), ks)
    methods = (Method(method, allow_imports=True),)
    experiment = Experiment((problem,), methods, **{"folds": 3, "allow_imports": True, **options})
    return problem, experiment.cells()


def in_memory():
    """A place for what cells share."""
    kept = {}

    def remember(key, compute):
        return kept[key] if key in kept else kept.setdefault(key, compute())

    return remember


def as_they_are(key, compute):
    """Remember that no transform is the best."""
    return "none" if key[0] == "transform" else compute()


DRAWS, KS = range(2), (5, 20)
#: These look for dependence of any shape, and a linear SVM cannot use what they find in noise.
OF_ANY_SHAPE = ("mifs", "mrmr", "jmim", "jmi", "cmim", "disr", "mutual-info")


def correct_on_noise(method, protocol):
    """How many test samples are predicted right, by k, and of how many."""
    right, n = dict.fromkeys(KS, 0), 0
    # Cells have seeds of their own.
    drawn_less = {name: value for name, value in DRAWN.get(method, {}).items() if name != "random_state"}
    for draw in DRAWS:
        problem = Problem(noise(draw), KS)
        methods = (Method(method, drawn_less),)
        cells = Experiment((problem,), methods, protocol=protocol, folds=2).cells()
        remember = in_memory()
        for cell in cells:
            rows = evaluate(problem, cell, remember)
            n += rows[0]["n_test"]
            for row in rows:
                assert row["protocol"] == protocol
                right[row["k"]] += round(row["accuracy"] * row["n_test"])
    return right, n


def by_chance(n):
    """An interval that all methods and k together leave once in a thousand times."""
    return binom.interval(1 - 0.001 / (len(available_selectors()) * len(KS)), n, 0.5)


@pytest.mark.parametrize("method", available_selectors())
def test_nested_predicts_noise_by_chance(method):
    right, n = correct_on_noise(method, "nested")
    low, high = by_chance(n)
    assert all(low <= right[k] <= high for k in KS)


@pytest.mark.parametrize("method", [id for id in available_selectors() if id not in OF_ANY_SHAPE])
def test_leaky_predicts_noise_that_it_has_seen(method):
    right, n = correct_on_noise(method, "leaky")
    low, high = by_chance(n)
    if method == "random":  # which looks at nothing
        assert all(low <= right[k] <= high for k in KS)
    else:
        assert right[KS[-1]] > high


@pytest.mark.parametrize("protocol", ["nested", "leaky"])
def test_a_selector_sees_the_training_part_alone(protocol):
    data = noise(0, 30, 4)
    data.X[:, 0] = np.arange(30)
    problem, cells = cells_of(data, "tests.bench.odd_selectors.Listening", (2,), protocol=protocol)
    for cell in cells:
        evaluate(problem, cell)
        train, _ = split_of(problem, cell)
        np.testing.assert_array_equal(Listening.seen, train if protocol == "nested" else np.arange(30))


@pytest.mark.parametrize("kind", ["classes", "real"])
@pytest.mark.parametrize("method", ["lasso", "mrmr"])
def test_what_is_in_the_test_part_changes_nothing_but_scores(method, kind):
    rng = np.random.default_rng(3)
    y = np.arange(45) % 3
    X = np.exp(rng.normal(size=(45, 12)) + y[:, None] * (np.arange(12) < 4))
    problem, cells = cells_of(make_data(X.copy(), y if kind == "classes" else y + 0.5, kind), method)
    _, test = split_of(problem, cells[0])
    X[test] = 100 * rng.normal(size=(len(test), 12))
    y_other = problem.data.y.copy()
    if kind == "real":  # where the folds do not depend on y
        y_other[test] = rng.normal(size=len(test))
    other = Problem(make_data(X, y_other, kind), problem.ks)
    np.testing.assert_array_equal(split_of(other, cells[0])[1], test)
    before, after = evaluate(problem, cells[0]), evaluate(other, cells[0])
    for name in ("transform", "tuned", "selected", "n_train", "n_test"):
        assert [row[name] for row in before] == [row[name] for row in after]
    metric = "accuracy" if kind == "classes" else "r2"
    assert [row[metric] for row in before] != [row[metric] for row in after]


def test_scores_are_those_of_a_plain_pipeline():
    """The twin: scikit-learn's grid search at the largest k, then a pipeline for every k."""
    data, ks = load_data("wine"), (2, 5, 9)
    problem, cells = cells_of(data, "lasso", ks, seed=7)
    for cell in cells:
        rows = evaluate(problem, cell)
        splits = StratifiedKFold(3, shuffle=True, random_state=seed_for(7, 0)).split(data.X, data.y)
        train, test = list(splits)[cell.fold]
        f = {"none": lambda X: X, "sqrt": np.sqrt, "log1p": np.log1p}[rows[0]["transform"]]
        X, y = f(data.X[train]), data.y[train]
        ranking = make_selector("lasso", n_features_to_select=9).fit(X, y).ranking_
        order = np.argsort(ranking)[:9]
        inner = StratifiedKFold(3, shuffle=True, random_state=seed_for(7, 0, cell.fold))
        model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
        search = GridSearchCV(model, {"svc__C": [0.01, 0.1, 1.0, 10.0]}, cv=inner).fit(X[:, order], y)
        assert rows[-1]["selected"] == order.tolist()
        for row in rows:
            features = order[: row["k"]]
            model.set_params(svc__C=search.best_params_["svc__C"]).fit(X[:, features], y)
            predicted = model.predict(f(data.X[test][:, features]))
            assert row["C"] == search.best_params_["svc__C"]
            assert row["accuracy"] == np.mean(predicted == data.y[test])
            assert row["balanced_accuracy"] == balanced_accuracy_score(data.y[test], predicted)
            assert row["f1"] == f1_score(data.y[test], predicted, average="macro")


def test_rows_are_complete():
    problem, cells = cells_of(load_data("wine"), "mrmr", (2, 4, 6))
    rows = evaluate(problem, cells[1])
    assert [row["k"] for row in rows] == [2, 4, 6]
    for row in rows:
        assert set(row) == set(COLUMNS)
        assert [name for name in COLUMNS if row[name] is None] == ["r2"] + ["selected"] * (row["k"] < 6)
        assert (row["cell"], row["n_train"] + row["n_test"], row["n_features"]) == (cells[1].key, 178, 13)
        assert (row["status"], row["reason"], row["warnings"]) == ("ok", "", "")
        assert row["cell_seconds"] >= row["select_seconds"] >= 0
    assert len(set(rows[-1]["selected"])) == 6


def test_every_sample_is_tested_once_in_a_repeat_and_repeats_differ():
    problem, cells = cells_of(load_data("wine"), repeats=2, folds=5)
    tests = [split_of(problem, cell)[1] for cell in cells]
    for repeat in (tests[:5], tests[5:]):
        np.testing.assert_array_equal(np.sort(np.concatenate(repeat)), np.arange(178))
    assert not any(np.array_equal(a, b) for a in tests[:5] for b in tests[5:])


def test_random_features_differ_between_folds_and_not_between_runs():
    problem, cells = cells_of(load_data("wine"), "random", repeats=2)
    drawn = [evaluate(problem, cell, as_they_are)[-1]["selected"] for cell in cells]
    assert len({tuple(features) for features in drawn}) > 1
    assert drawn == [evaluate(problem, cell, as_they_are)[-1]["selected"] for cell in cells]


@pytest.mark.parametrize("kind", ["classes", "real"])
def test_groups_are_never_torn_apart(kind):
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(15), 4))
    y = rng.permutation(np.arange(60) % 3) if kind == "classes" else rng.normal(size=60)
    data = make_data(rng.normal(size=(60, 6)), y, kind)
    problem, cells = cells_of(data, groups=groups)
    for cell in cells:
        train, test = split_of(problem, cell)
        assert not set(groups[train]) & set(groups[test])
        assert evaluate(problem, cell, as_they_are)[0]["status"] == "ok"
        for inner, held_out in problem.data.samples.take(train).folds(y[train], kind, 3, 0):
            assert not set(groups[train][inner]) & set(groups[train][held_out])
    assert problem.data.fingerprint != data.fingerprint
    assert cells[0].key != cells_of(data)[1][0].key


def test_a_real_target_gives_r2_even_when_it_is_whole():
    data = load_data("diabetes")
    assert (data.y == data.y.round()).all()
    for method in ("lasso", "mrmr", "anova"):
        problem, cells = cells_of(data, method, (3, 6))
        rows = evaluate(problem, cells[0])
        assert all(row["accuracy"] is None and row["r2"] > 0.25 for row in rows)
        assert rows[0]["classifier"] == "ridge" and rows[0]["C"] is None
        assert '"alpha"' in rows[0]["tuned"]


def test_selectors_that_ask_y_for_its_kind_are_shown_no_whole_numbers_for_a_real_target():
    data = make_data(np.random.default_rng(0).normal(size=(30, 4)), np.arange(30.0), "real")
    problem, cells = cells_of(data, "tests.bench.odd_selectors.Listening", (2,))
    evaluate(problem, cells[0])
    train, _ = split_of(problem, cells[0])
    np.testing.assert_array_equal(Listening.target, train + 0.5)


def test_pixels_are_fused_along_the_picture_whose_rows_they_list():
    rng = np.random.default_rng(0)
    shape = {"grid_shape": (2, 3), "grid_order": "columns"}
    data = replace(make_data(rng.normal(size=(30, 6)), np.arange(30) % 2), **shape)
    method = Method("infused-lasso", {"fusion": "grid"})
    cell = Experiment((Problem(data, (2,)),), (method,), folds=3).cells()[0]
    assert cell.selector.parameters == {"fusion": "grid", "grid_shape": [3, 2]}
    assert evaluate(Problem(data, (2,)), cell)[0]["status"] == "ok"


@pytest.mark.parametrize("classifier", ["svm", "logistic", "knn", "random-forest", "sklearn.svm.LinearSVC"])
def test_classifiers_by_name(classifier):
    problem, cells = cells_of(load_data("wine"), ks=(6,), classifier=classifier)
    (row,) = evaluate(problem, cells[0], as_they_are)
    assert row["accuracy"] > 0.85
    assert (row["C"] is not None) == (classifier in ("svm", "logistic", "sklearn.svm.LinearSVC"))


def test_sparse_data_give_what_dense_data_give():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = rng.poisson(0.4 + 0.8 * y[:, None] * (np.arange(30) < 5), (60, 30)).astype(float)
    for method in ("lasso", "anova"):
        dense, cells = cells_of(make_data(X, y), method)
        rows = evaluate(dense, cells[0])
        thin = evaluate(Problem(make_data(sparse.csr_array(X), y), (2, 4)), cells[0])
        for name in ("accuracy", "transform", "C", "selected"):
            assert [row[name] for row in rows] == [row[name] for row in thin]


@pytest.mark.parametrize("transform", ["sqrt", "log1p"])
def test_a_negative_value_in_the_test_part_alone_is_taken_for_zero(transform):
    y = np.arange(60) % 2
    X = np.random.default_rng(5).exponential(1 + y[:, None], (60, 8))
    problem, cells = cells_of(make_data(X, y))
    _, test = split_of(problem, cells[0])
    X[test[0]] = 0.0
    at_zero = evaluate(problem, cells[0], lambda key, compute: transform)
    X[test[0]] = -5.0
    below = evaluate(problem, cells[0], lambda key, compute: transform)
    assert [row["f1"] for row in at_zero] == [row["f1"] for row in below]
    assert below[0]["transform"] == transform


def test_balanced_accuracy_is_over_the_classes_of_the_test_part():
    """A class with two samples is in two of five test parts; Lymphoma has such."""
    rng = np.random.default_rng(2)
    y = np.array([0] * 20 + [1] * 20 + [2] * 2)
    problem, cells = cells_of(make_data(rng.normal(size=(42, 5)) + 3 * y[:, None], y), folds=5)
    for cell in cells:
        rows = evaluate(problem, cell)
        assert all(row["balanced_accuracy"] <= 1 and row["warnings"] == "" for row in rows)


def test_ablations_change_the_structural_term_or_one_parameter(monkeypatch):
    data, solve, solved = load_data("wine"), SparseModel.fit, []
    monkeypatch.setattr(
        SparseModel, "fit", lambda model, *a, **b: solved.append(model) or solve(model, *a, **b)
    )

    def quadratic(selector):
        """The term in the first model that is solved, which has all features."""
        solved.clear()
        selector.fit(data.X, data.y)
        assert solved[0].n_features == data.n_features
        return solved[0].quadratic

    full = prepared(Method("infused-lasso"), 5, data.kind)
    variants = {name: prepared(Method(name), 5, data.kind) for name in ABLATIONS}
    term = quadratic(full)
    ridge = quadratic(variants["infused-lasso[equal-ridge]"])
    permuted = quadratic(variants["infused-lasso[permuted-U]"])
    assert isinstance(ridge, Ridge) and ridge.weight == term.weight
    assert not np.allclose(permuted.U, term.U)
    np.testing.assert_allclose(np.linalg.eigvalsh(permuted.U), np.linalg.eigvalsh(term.U), atol=1e-12)
    assert variants["infused-lasso[no-fusion]"].lambda2 == 0 < full.lambda2
    assert variants["infused-lasso[labels]"].target == "label"
    problem, cells = cells_of(data, "infused-lasso[labels]")
    assert evaluate(problem, cells[0])[0]["method"] == "infused-lasso[labels]"


def test_seeds_are_their_own():
    places = [(), (0,), (0, 0), (0, 1), (1,), (1, 0)]
    seeds = {seed_for(seed, *place) for seed in (0, 1) for place in places}
    assert len(seeds) == 2 * len(places)


def test_default_ks_are_those_of_the_paper():
    assert default_ks("Lymphoma", 4026) == tuple(range(10, 161, 10))
    assert default_ks("RELATHE", 4322) == tuple(range(10, 201, 10))
    assert default_ks("other", 5) == (1, 2, 3, 4, 5)
    assert all(len(default_ks("other", n)) <= 20 and default_ks("other", n)[-1] <= n for n in range(1, 300))


WINE = Problem(load_data("wine"), (2, 4))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"problems": ()}, "nothing to run"),
        ({"problems": (WINE, WINE)}, "data set wine is there twice"),
        ({"methods": (Method("lasso"), Method("lasso"))}, "method lasso is there twice"),
        ({"methods": (Method("laso"),)}, "did you mean 'lasso'"),
        ({"methods": (Method("lasso", {"lambda9": 1}),)}, "lambda9"),
        ({"methods": (Method("no.such.Thing"),)}, "'no.such.Thing' is not a registered method but a path"),
        ({"methods": (Method("no.such.Thing", {}, True),)}, "'no.such.Thing' cannot be imported"),
        ({"methods": (Method("os.getcwd", {}, True),)}, "'os.getcwd' is no class of a selector"),
        ({"classifier": "sklearn.svm.SVC"}, "classifier='sklearn.svm.SVC' is a path to code"),
        ({"classifier": "os.getcwd", "allow_imports": True}, "is no class of a model"),
        ({"problems": (Problem(WINE.data, (2, 14)),)}, "k=14 is more than the 13 features of wine"),
        ({"problems": (Problem(WINE.data, ()),)}, r"k=\[\]: give whole numbers"),
        ({"problems": (Problem(WINE.data, (4, 2)),)}, "must increase"),
        ({"folds": 1}, "folds=1: give"),
        ({"folds": 100}, "folds=100 is more than the 71 samples in its largest class of wine"),
        ({"repeats": 0}, "repeats=0: give"),
        ({"seed": -1}, "seed=-1: give"),
        ({"protocol": "loose"}, "protocol='loose' is not known; there are nested, leaky"),
        ({"classifier": "swm"}, "classifier='swm' is no classifier that is known; did you mean 'svm'"),
        (
            {
                "problems": (Problem(replace(WINE.data, samples=Samples(np.arange(178) % 2)), (2,)),),
                "folds": 3,
            },
            "folds=3 is more than the 2 groups of sample_groups",
        ),
        ({"problems": (Problem(replace(WINE.data, y=WINE.data.X, kind="real"), (2,)),)}, "has 13 targets"),
        (
            {"problems": (Problem(load_data("diabetes"), (2,)),), "methods": (Method("l1-logistic"),)},
            "classes",
        ),
    ],
)
def test_impossible_experiments_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        Experiment(**{"problems": (WINE,), "methods": (Method("lasso"),), "folds": 5, **options})


@pytest.mark.parametrize(("name", "words"), [("Tied", "puts 13 features first"), ("Unranked", "no ranking_")])
def test_a_selector_must_tell_the_best_k(name, words):
    problem, cells = cells_of(WINE.data, f"tests.bench.odd_selectors:{name}")
    with pytest.raises(InputError, match=words):
        evaluate(problem, cells[0])


def test_parameters_make_a_method_of_their_own():
    a = Method("lasso", {"lambda1": 0.1, "ranking": "path"})
    b = Method("lasso", {"ranking": "path", "lambda1": 0.1})
    with pytest.raises(InputError, match="numbers or words"):
        Method.parse("lasso:lambda1=1e999")
    assert a == b and hash(a) == hash(b)
    assert canonical_json(b.parameters) == '{"lambda1":0.1,"ranking":"path"}'
    assert Method.parse("lasso:ranking=path:lambda1=0.1") == a == Method.parse(str(a))
    assert Method.parse("some.module:Name:on=True") == Method("some.module:Name", {"on": True})
    experiment = Experiment((WINE,), (Method("lasso"), a), folds=5)
    assert len({cell.key for cell in experiment.cells()}) == 10


@pytest.mark.parametrize("protocol", ["nested", "leaky"])
def test_every_cell_keeps_the_warnings_of_its_selection(protocol):
    problem, cells = cells_of(noise(0, 30, 4), "tests.bench.odd_selectors.Complaining", protocol=protocol)
    remember = in_memory()
    for cell in cells:
        assert {row["warnings"] for row in evaluate(problem, cell, remember)} == {
            "UserWarning: too few rounds"
        }


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("penalty", [1e-4, 0.1, 10.0])
def test_the_linear_svm_predicts_what_libsvm_predicts(n_classes, penalty):
    rng = np.random.default_rng(n_classes)
    y = rng.permutation(np.arange(140) % n_classes)
    X = rng.normal(size=(140, 12)) + 0.8 * rng.normal(size=(n_classes, 12))[y]
    names = np.array(list("gfedcba"))[y]  # classes that are not numbers, and not in order
    ours, unseen = LinearSVM(C=penalty).fit(X, names), rng.normal(size=(500, 12))
    libsvm = SVC(kernel="linear", C=penalty).fit(X, names).predict(unseen)
    assert len(set(libsvm)) > 1 or penalty < 0.1
    np.testing.assert_array_equal(ours.predict(unseen), libsvm)


def test_the_linear_svm_counts_equal_votes_as_libsvm_does():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    ours, libsvm = LinearSVM(C=1.0).fit(X, y), SVC(kernel="linear").fit(X, y)
    unseen = rng.normal(size=(2000, 2))
    won = (unseen @ ours.coef_.T + ours.intercept_ > 0).astype(int)
    votes = np.stack([won[:, 0] + won[:, 1], 1 - won[:, 0] + won[:, 2], 2 - won[:, 1] - won[:, 2]])
    assert (votes.max(axis=0) == 1).any()  # every class wins once
    np.testing.assert_array_equal(ours.predict(unseen), libsvm.predict(unseen))


def test_the_penalty_is_tuned_on_a_share_of_many_samples(monkeypatch):
    seen = []
    monkeypatch.setattr("infused.selectors.choose.number.MOST_SAMPLES", 60)
    monkeypatch.setattr("infused.bench.protocol.tuned", lambda model, X, y, *_: seen.append(y) or {"C": 1.0})
    problem, cells = cells_of(load_data("breast-cancer"))
    rows = evaluate(problem, cells[0], as_they_are)
    assert [len(y) for y in seen] == [60]
    assert seen[0].tolist().count(seen[0][0]) not in (0, 60)
    assert rows[0]["n_train"] > 300  # the model itself is fitted on all


def test_methods_that_share_their_information_score_as_they_do_alone():
    names = ["infused-lasso", "in-elastic-net", "infused-lasso[equal-ridge]", "infused-lasso[permuted-U]"]
    found = [cells_of(load_data("wine"), name) for name in names]
    alone = [evaluate(problem, cells[1]) for problem, cells in found]
    with sharing() as shared:
        together = [evaluate(problem, cells[1]) for problem, cells in found]
    assert [what[0] for what in shared._kept].count("U") == 2  # one for each of the two criteria
    for one, other in zip(alone, together, strict=True):
        assert [row["accuracy"] for row in one] == [row["accuracy"] for row in other]
        assert one[-1]["selected"] == other[-1]["selected"]
        assert all(row["select_seconds"] > 0 for row in other)


def test_a_dotted_path_finds_a_model_and_tunes_its_c():
    assert evaluator_named("sklearn.svm.LinearSVC", "classes", allow_imports=True).tuned == "C"
    assert evaluator_named("sklearn.tree:DecisionTreeRegressor", "real", allow_imports=True).tuned is None


@pytest.mark.parametrize(
    "value",
    ["-" * 100_000 + "1", "(" * 100_000, "[" * 300 + "]" * 300, "1-" * 50_000 + "1", "(1)" + "[0]" * 50_000,
     "()" * 50_000, "not " * 50_000 + "1", "1**" * 50_000 + "1", "9" * 100_000, "'a'" * 50_000],
    ids=lambda value: value[:8],
)  # fmt: skip
def test_a_value_without_end_is_a_word(value, capfd):
    """No parser of Python's looks at it, which would end with an error of recursion, or the process."""
    assert Method.parse(f"lasso:lambda1={value}").parameters == {"lambda1": value}
    assert main(["select", "wine", "-m", f"lasso:lambda1={value}", "--json"]) == 2
    assert "'lambda1' parameter" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.1", 0.1), ("-1", -1), ("1e-3", 1e-3), (".5", 0.5), ("1_000", 1000), ("None", None), ("True", True),
     ("(8, 8)", (8, 8)), ("[1, [2, 'a']]", [1, [2, "a"]]), ("()", ()), ("word", "word"), ("1 2", "1 2"),
     ("1+2j", "1+2j"), ("{1: 2}", "{1: 2}"), ("b'a'", "b'a'"), ("f()", "f()"), ("", "")],
)  # fmt: skip
def test_values_are_numbers_texts_and_lists_of_them(text, value):
    found = typed_value(text)
    assert found == value and type(found) is type(value)
