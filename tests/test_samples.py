"""Samples that belong together or follow one another: folds, halves, permutations, every entrance."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import clone, config_context
from sklearn.model_selection import GroupKFold, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import infused
from infused import AutoSelector, KnockoffSelector, Lasso, StabilitySelection, shadow_test
from infused.cli import main
from infused.data import load_data
from infused.exceptions import InputError
from infused.samples import Samples


def repeated(seed=0, n_patients=24, n_rows=12, n_features=40):
    """Noise: several similar rows of each patient, who has one class."""
    random = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), n_rows)
    X = random.normal(size=(n_patients, n_features))[patient] + 0.3 * random.normal(
        size=(len(patient), n_features)
    )
    return X, (np.arange(n_patients) % 2)[patient], patient


def frame(**options):
    X, y, patient = repeated(**options)
    table = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    table["patient"] = [f"P{one}" for one in patient]
    table["visit"] = np.arange(len(y)) % 12
    table["ill"] = np.where(y == 1, "yes", "no")
    return table


@pytest.mark.parametrize("kind", ["classes", "real"])
@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_folds_never_part_a_group(kind, n_folds):
    _, y, patient = repeated()
    folds = Samples.given(patient, None, len(y)).folds(y, kind, n_folds, 0)
    assert len(folds) == n_folds
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
    for train, test in folds:
        assert not set(patient[train]) & set(patient[test])
        assert abs(y[test].mean() - 0.5) <= (0.2 if kind == "classes" else 0.5)


@pytest.mark.parametrize("n_folds", [1, 3, 5])
def test_an_order_means_training_before_testing(n_folds):
    time = np.random.default_rng(0).integers(0, 12, 200)
    folds = Samples.given(None, time, 200).folds(np.zeros(200), "real", n_folds, 0)
    assert len(folds) == n_folds
    for train, test in folds:
        assert time[train].max() < time[test].min()
    assert np.ptp(np.concatenate([test for _, test in folds])) > 0


def test_with_both_later_samples_are_tested_by_earlier_ones_of_other_groups():
    table = frame()
    samples = Samples.given(table["patient"], table["visit"], len(table))
    for train, test in samples.folds(np.zeros(len(table)), "real", 4, 0):
        assert not set(table["patient"][train]) & set(table["patient"][test])
        assert table["visit"][train].max() < table["visit"][test].min()


def test_dates_and_texts_of_dates_are_an_order():
    days = pd.date_range("2020-01-01", periods=6)[[3, 1, 0, 5, 4, 2]]
    for given in (days, days.strftime("%Y-%m-%d"), [3.5, 1, 0, 5, 4, 2]):
        assert Samples.given(None, given, 6).order.tolist() == [3, 1, 0, 5, 4, 2]


def test_halves_take_groups_whole_and_share_the_classes():
    _, y, patient = repeated(n_patients=23)
    samples = Samples.given(patient, None, len(y))
    for seed in range(5):
        a, b = samples.halves(y, False, seed)
        assert not set(patient[a]) & set(patient[b])
        assert len(set(patient[a])) == len(set(patient[b])) == 11
        assert abs(y[a].mean() - y[b].mean()) < 0.2


def test_halves_take_blocks_of_an_order_whole():
    samples = Samples.given(None, np.arange(200), 200)
    a, b = samples.halves(np.zeros(200), True, 0)
    assert len(a) == len(b) == 100 and not set(a) & set(b)
    assert len(set(a // 10)) == 10  # blocks of ten in a row
    assert Samples.given(None, np.arange(200) % 4, 200).units is None


def test_permutations_keep_what_is_constant_within_groups_so():
    _, y, patient = repeated(n_patients=9, n_rows=5)
    patient[3] = 8  # of other sizes
    patient = np.unique(patient, return_inverse=True)[1]
    random = np.random.RandomState(0)
    samples = Samples.given(patient, None, len(y))
    rows = np.array([samples.shuffled(len(y), random) for _ in range(50)])
    of = patient[rows]
    for group in range(9):
        assert (of[:, patient == group] == of[:, patient == group][:, :1]).all()
    assert (np.diff(rows[:, patient == 5]) != 1).any()  # within groups, too
    assert sorted(set(of[0])) == list(range(9))
    shifted = Samples.given(None, np.arange(20), 20).shuffled(20, random)
    assert set(np.diff(shifted)) <= {1, -19} and shifted[0] != 0


def test_noise_with_repeated_rows_is_no_longer_found():
    """Without the groups features are stable and ahead of shadows, and the accuracy is near 1."""
    X, y, patient = repeated()
    lasso = Lasso(n_features_to_select=5).fit(X, y)
    torn, whole = (
        shadow_test(lasso, X, y, n_repeats=19, random_state=0, sample_groups=groups).p_values
        for groups in (None, patient)
    )
    assert torn.max() <= 0.05 and np.median(whole) > 0.5  # one of five may win by chance
    stable = StabilitySelection(Lasso(n_features_to_select=8), n_pairs=15, random_state=0)
    assert stable.fit(X, y).n_stable_ >= 3 > stable.fit(X, y, sample_groups=patient).n_stable_
    auto = AutoSelector(["anova"], random_state=0)
    assert max(auto.fit(X, y).number_curve_.means) > 0.95
    assert max(auto.fit(X, y, sample_groups=patient).number_curve_.means) < 0.9
    knockoffs = KnockoffSelector(fdr=0.2, random_state=0)
    assert knockoffs.fit(X, y).n_discoveries_ > 5
    assert knockoffs.fit(X, y, sample_groups=patient).n_discoveries_ == 0


def test_copies_in_groups_have_the_covariances_between_and_within():
    """Group means and deviations, each beside their copies, can change places with them."""
    from infused.selectors.control.knockoffs import Parts, grouped_copies

    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(400), 5)
    between = random.normal(size=(400, 3)) @ np.array([[1, 0.8, 0], [0, 0.6, 0], [0, 0, 1]])
    within = random.normal(size=(2000, 3)) @ np.array([[0.5, 0, 0.3], [0, 0.1, 0], [0, 0, 0]])
    F = between[groups] + within
    Z = Parts.make([F[:, [j]] - F[:, [j]].mean() for j in range(3)]).Z
    copies = grouped_copies(Z, groups, "mvr", 1)(random)[0]
    for part in (
        lambda A: pd.DataFrame(A).groupby(groups).mean().to_numpy(),
        lambda A: A - part_means(A, groups),
    ):
        real, made = np.cov(part(Z).T), np.cov(part(copies).T)
        np.testing.assert_allclose(made, real, atol=0.08)
        cross = np.cov(part(Z).T, part(copies).T)[:3, 3:]
        off = ~np.eye(3, dtype=bool)
        np.testing.assert_allclose(cross[off], real[off], atol=0.08)


def part_means(A, groups):
    return pd.DataFrame(A).groupby(groups).transform("mean").to_numpy()


@pytest.mark.parametrize(
    "selector, name",
    [
        (AutoSelector(["anova"], cv=3, random_state=0), "groups"),
        (StabilitySelection("lasso", n_pairs=3, n_features_to_select=3, random_state=0), "sample_groups"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_groups_are_routed_by_scikit_learn(selector, name):
    """Inside a cross-validation a pipeline fits as with the groups of the training part."""
    X, y, patient = repeated()
    train, test = next(GroupKFold(3).split(X, y, patient))
    with config_context(enable_metadata_routing=True):
        routed = clone(selector).set_fit_request(**{name: True if name == "groups" else "groups"})
        found = cross_validate(
            make_pipeline(routed, LinearSVC(random_state=0)),
            X,
            y,
            cv=[(train, test)],
            params={"groups": patient},
            return_estimator=True,
        )
    with_groups = clone(selector).fit(X[train], y[train], **{name: patient[train]})
    without = clone(selector).fit(X[train], y[train])
    assert evidence(found["estimator"][0][0]) == evidence(with_groups) != evidence(without)


def evidence(selector):
    """Return the figures that depend on how samples are divided."""
    if isinstance(selector, AutoSelector):
        return list(selector.number_curve_.means)
    return selector.frequencies_.tolist()


def test_a_selection_with_groups_is_repeated_from_its_record(tmp_path):
    table = frame(n_features=12)
    table.to_csv(tmp_path / "t.csv", index=False)
    options = {"k": 3, "method": "lasso", "stability": 5, "folds": 4, "drop": "visit"}
    selection = infused.select(tmp_path / "t.csv", "ill", sample_groups="patient", **options)
    assert "patient" not in selection.record.features.names
    assert selection.record.score.means[0] < 0.8
    assert any("24 groups by 'patient'" in note for note in selection.record.data.notes)
    again = infused.rerun(infused.Selection.load(selection.save(tmp_path / "out")[0].parent))
    assert again.again.record.score == selection.record.score and again.same_data
    by_array = infused.select(
        (table.drop(columns=["ill", "patient"]), table["ill"]), sample_groups=table["patient"], **options
    )
    assert by_array.features == selection.features
    assert by_array.record.score == selection.record.score
    assert by_array.record.stability == selection.record.stability
    assert infused.Selection.load(by_array.save(tmp_path / "array")[0].parent).record == by_array.record


@pytest.mark.parametrize("method", ["auto:methods=anova", "stability", "knockoffs"])
def test_methods_that_promise_something_take_the_groups(method):
    table = frame(n_features=12).drop(columns="visit")
    selection = infused.select(table, "ill", method=method, sample_groups="patient", stability=0)
    assert len(selection.features) <= 3


def test_explain_permutes_groups():
    table = frame(n_features=5).drop(columns="visit")
    strongest = min(infused.explain(table, f"f{j}", "ill").p_value for j in range(5))
    honest = min(infused.explain(table, f"f{j}", "ill", sample_groups="patient").p_value for j in range(5))
    assert str(infused.explain(table, "f0", "ill")).startswith("Rows look related: 'patient'")
    assert strongest < 0.001 < 0.02 < honest


def test_compare_and_the_command_line_take_the_same_words(tmp_path, capsys):
    file = tmp_path / "t.csv"
    frame(n_features=8).to_csv(file, index=False)
    words = ["-t", "ill", "--methods", "anova", "-k", "3", "--folds", "3", "--jobs", "1", "--json"]
    assert main(["compare", str(file), *words]) == 0
    apart = json.loads(capsys.readouterr().out)
    assert main(["compare", str(file), *words, "--sample-groups", "patient", "--order", "visit"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert apart["verdict"].startswith("Rows look related: 'patient' has 24 different values")
    assert (
        apart["methods"][0]["score"] > whole["methods"][0]["score"]
        if "score" in whole["methods"][0]
        else True
    )
    assert main(["select", str(file), "-t", "ill", "-k", "2", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert "--sample-groups patient" in record["data"]["warnings"][0]


def test_rows_that_look_related_are_reported():
    table = frame(n_features=4)
    assert "'patient' has 24 different values in 288 rows" in load_data(table, target="ill").hints[0]
    unnamed = table.rename(columns={"patient": "dog"})
    assert "'dog' has 24" in load_data(unnamed, target="ill").hints[0]  # each dog has each visit once
    assert load_data(table, target="ill", sample_groups="patient").hints == ()
    assert load_data("wine").hints == ()
    hours = pd.DataFrame({"day": np.repeat(np.arange(40), 24), "hr": np.tile(np.arange(24), 40)})
    hours["bikers"] = np.random.default_rng(0).poisson(20, len(hours))
    assert load_data(hours, target="bikers").hints == ()  # hours of days are no groups
    records = np.random.default_rng(0).choice(4, 288, p=[0.8, 0.1, 0.06, 0.04])
    counted = table.drop(columns=["patient", "visit"]).assign(public_record_bankrupt=records)
    assert load_data(counted, target="ill").hints == ()  # a count is mostly 0
    dates = table.drop(columns=["patient", "visit"]).assign(day=pd.date_range("2020", periods=len(table)))
    assert "the order of 'day'" in load_data(dates, target="ill").hints[0]
    shuffled = dates.sample(frac=1, random_state=0)
    assert load_data(shuffled, target="ill").hints == ()
    twice = pd.concat([table.iloc[:30, :4]] * 2).assign(ill=[0, 1] * 30)
    assert "30 of 60 rows repeat an earlier one" in load_data(twice, target="ill").hints[0]


def shown_by(result, folder):
    """Return the first lines of an answer in print, in a notebook and on its page, without markup."""
    page = result.report(folder / "page.html")
    pages = [result._repr_html_(), Path(page).read_text(encoding="utf-8")]
    plain = [re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<(style|script).*?</", "<", one)) for one in pages]
    return [" ".join(one.split()) for one in (str(result), *plain)]


@pytest.mark.parametrize("job", ["select", "compare"])
def test_the_hint_comes_first_in_print_notebook_page_and_terminal(job, tmp_path, capsys):
    table = frame(n_features=4).drop(columns="visit")
    table.to_csv(tmp_path / "t.csv", index=False)
    if job == "select":
        result, words = infused.select(table, "ill", k=2, method="anova"), ["-k", "2", "--method", "anova"]
    else:
        result = infused.compare(table, "ill", methods=["anova"], k=2, folds=2)
        words = ["--methods", "anova", "-k", "2", "--folds", "2", "--jobs", "1"]
    for text in shown_by(result, tmp_path):
        hint = text.lower().find("look related")
        assert 0 <= hint < text.find("predict" if job == "select" else "mean accuracy")
        assert re.search("sample.groups", text)
    assert main([job, str(tmp_path / "t.csv"), "-t", "ill", *words, "-o", str(tmp_path / "out")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert 0 <= shown.lower().find("look related") < 200


WRONG = {
    "unknown column": ({"sample_groups": "patiend"}, "sample_groups='patiend': no such column; did you mean"),
    "one group": ({"sample_groups": "same"}, "has one group only: at least two are needed"),
    "missing": ({"sample_groups": "gaps"}, "has no value for 3 of 288 samples"),
    "length": ({"sample_groups": [1, 2, 3]}, "has 3 values for 288 samples: give one for each"),
    "folds": ({"sample_groups": "few", "folds": 5}, "folds=5 is more than the 3 groups of sample_groups"),
    "texts": ({"order": "ill"}, "holds texts that are neither numbers nor dates"),
    "one time": ({"order": "zero"}, "has the same value for all samples"),
    "no earlier": ({"order": "visit", "folds": 12}, "folds=12 is more than the 11 later times of order"),
    "knockoffs": ({"order": "visit", "fdr": 0.1}, "knockoffs hold their rate for independent samples"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_groups_are_one_clear_line(case):
    table = frame(n_features=3)
    table["gaps"] = table["patient"].where(np.arange(len(table)) > 2)
    table["few"], table["same"], table["zero"] = np.arange(len(table)) % 3, "x", 0
    options, message = WRONG[case]
    with pytest.raises(InputError) as error:
        target = "f0" if case == "texts" else "ill"
        infused.select(table, target, **{"k": None if "fdr" in options else 2, **options})
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_splitter_must_not_part_groups():
    X, y, patient = repeated(n_features=4)
    with pytest.raises(InputError, match="parts groups of sample_groups"):
        AutoSelector(["anova"], cv=KFold(3, shuffle=True)).fit(X, y, sample_groups=patient)
    with pytest.raises(InputError, match="cv=30 is more than the 24 groups"):
        AutoSelector(["anova"], cv=30).fit(X, y, sample_groups=patient)
