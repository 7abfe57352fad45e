"""Frames as they come: categories, texts, truth and gaps, straight into every selector."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import infused
from infused import available_selectors
from infused.exceptions import InputError
from infused.information.discrete import SparseCodes, discretize
from tests.made_tables import travellers
from tests.selectors.family import make_selector

IDS = available_selectors()
TAKES_GAPS = [
    *("hsic-lasso", "mifs", "mrmr", "jmim", "jmi", "cmim", "disr"),
    *("random", "mutual-info", "random-forest", "boosted-trees"),
]
UNWEIGHTED = ("infused-lasso", "in-elastic-net", "knockoffs", "auto", "stability", "boosted-trees")
WEIGHTED = [id for id in IDS if id not in UNWEIGHTED]
COUNTING = ["mifs", "mrmr", "jmim", "jmi", "cmim", "disr", "random", "mutual-info"]
ORDERED = [id for id in IDS if id != "random"]  # by the data
every_selector = pytest.mark.parametrize("id", IDS)
FORMS = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}


def trip(n=240):
    """Two categories of which one matters, a truth value, numbers; the target follows port and size."""
    rng = np.random.default_rng(0)
    port, deck = rng.choice(["S", "C", "Q"], n), rng.choice(list("ABCD"), n)
    size = rng.normal(size=n)
    y = (2.0 * (port == "C") - 1.5 * (port == "Q") + 1.2 * size + 0.6 * rng.normal(size=n) > 0).astype(int)
    frame = pd.DataFrame(
        {"deck": deck, "noise": rng.normal(size=n), "port": port, "size": size, "alone": rng.random(n) < 0.5}
    )
    return frame, y


def one_hot(frame):
    """The columns of the frame in numbers, and the variable of each."""
    parts, labels = [], []
    for name in frame:
        column = frame[name]
        if column.dtype.kind in "bif":
            parts.append(column.to_numpy(dtype=float)[:, None])
        else:
            parts.append(np.equal.outer(column.to_numpy(), np.unique(column)).astype(float))
        labels += [name] * parts[-1].shape[1]
    return np.hstack(parts), labels


@every_selector
@pytest.mark.parametrize("form", FORMS)
def test_a_frame_goes_straight_in_and_its_columns_come_out(id, form):
    frame, y = trip()
    X = FORMS[form](frame)
    selector = make_selector(id, n_features_to_select=2).fit(X, y)
    assert selector.n_features_in_ == 5
    assert selector.feature_names_in_.tolist() == list(frame)
    chosen = selector.get_feature_names_out().tolist()
    assert len(chosen) == selector.support_.sum() == 2
    assert id == "random" or chosen == ["port", "size"]
    np.testing.assert_array_equal(selector.transform(X), frame[chosen].to_numpy())
    for container, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = selector.set_output(transform=container).transform(X)
        assert isinstance(out, kind)
        assert list(out.columns) == chosen
        assert all(out[name].to_list() == frame[name].to_list() for name in chosen)
    # Levels that were never seen do no harm to what is only passed on.
    new = frame.assign(port="Z", deck="Y")
    out = selector.set_output(transform="pandas").transform(FORMS[form](new))
    pd.testing.assert_frame_equal(out, new[chosen], check_dtype=False)


@every_selector
def test_a_category_is_the_same_as_texts_as_codes_and_as_one_group_of_columns(id):
    frame, y = trip()
    same = [
        frame.astype({"port": "category", "deck": "category"}),
        frame.assign(port=pd.Categorical(frame["port"].map({"C": 0, "Q": 1, "S": 2})), deck=frame["deck"]),
        frame.astype({"port": "string", "alone": "boolean", "size": "Float64"}),
        frame.astype({"alone": object}),
    ]
    selector = make_selector(id, n_features_to_select=2).fit(frame, y)
    for other in same:
        np.testing.assert_array_equal(clone(selector).fit(other, y).scores_, selector.scores_)
    X, labels = one_hot(frame)
    groups = clone(selector).set_params(groups=labels).fit(X, y)
    assert groups.group_names_.tolist() == list(frame)
    np.testing.assert_array_equal(groups.ranking_, selector.ranking_)
    np.testing.assert_allclose(groups.scores_, selector.scores_, rtol=1e-9, atol=1e-12)
    if hasattr(selector, "coef_"):
        np.testing.assert_allclose(groups.coef_, selector.coef_, atol=1e-12)
        assert selector.coef_names_.tolist()[4:9] == ["noise", "port=C", "port=Q", "port=S", "size"]
    if id in COUNTING:
        numbers = frame.assign(**{name: pd.factorize(frame[name])[0] for name in ("port", "deck")})
        np.testing.assert_array_equal(clone(selector).fit(numbers, y).scores_, selector.scores_)


@every_selector
def test_categories_in_groups_that_are_kept(id):
    frame, y = trip()
    options = {"groups": {"where": ["deck", "alone"]}, "keep": ["where"]}
    selector = make_selector(id, n_features_to_select=2, **options).fit(frame, y)
    assert selector.group_names_.tolist() == ["where", "noise", "port", "size"]
    assert selector.ranking_[0] == 1
    chosen = set(selector.get_feature_names_out())
    assert {"deck", "alone"} < chosen and len(chosen) == 3
    assert id == "random" or chosen & {"port", "size"}
    X, labels = one_hot(frame)
    labels = ["where" if name in ("deck", "alone") else name for name in labels]
    other = make_selector(id, n_features_to_select=2, groups=labels, keep=["where"]).fit(X, y)
    np.testing.assert_array_equal(other.ranking_, selector.ranking_)


@pytest.mark.parametrize("id", WEIGHTED)
def test_whole_weights_of_categories_are_repetition(id):
    frame, y = trip(90)
    if id in TAKES_GAPS:
        frame["size"] = frame["size"].mask(np.arange(90) % 9 == 0)
    frame.loc[::30, "deck"] = "rare"
    frame.loc[5:8, "port"] = None
    w = np.random.default_rng(1).integers(0, 4, 90)
    weighted = make_selector(id, n_features_to_select=2).fit(frame, y, sample_weight=w)
    copies = frame.loc[frame.index.repeat(w)]
    repeated = make_selector(id, n_features_to_select=2).fit(copies, np.repeat(y, w))
    np.testing.assert_array_equal(weighted.ranking_, repeated.ranking_)
    close = 5e-3 if id == "l1-logistic" else 1e-4  # of lambda1, as the lassos solve
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=close, atol=close)


@every_selector
def test_a_gap_in_a_category_is_a_level(id):
    frame, y = trip()
    gaps = frame.assign(port=frame["port"].where(frame["port"] != "Q"))
    assert gaps["port"].isna().any()
    selector = make_selector(id, n_features_to_select=2)
    named = clone(selector).fit(gaps.fillna({"port": "~ none"}), y)  # sorted last, as gaps are
    for form in FORMS.values():
        found = clone(selector).fit(form(gaps), y)
        np.testing.assert_allclose(found.scores_, named.scores_, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(found.ranking_, named.ranking_)


@pytest.mark.parametrize("id", ["lasso", "anova", "mrmr"])
def test_truth_with_gaps_has_three_levels(id):
    frame, y = trip()
    alone = frame["alone"].astype(object).where(np.arange(240) % 5 > 0, None)
    as_texts = frame.assign(alone=alone.map({True: "True", False: "False"}))
    expected = make_selector(id, n_features_to_select=2).fit(as_texts, y)
    only = frame[["size"]].assign(alone=alone.astype("boolean"))
    for form in FORMS.values():
        for given in (alone, alone.astype("boolean")):
            found = make_selector(id, n_features_to_select=2).fit(form(frame.assign(alone=given)), y)
            np.testing.assert_array_equal(found.scores_, expected.scores_)
        assert make_selector(id, n_features_to_select=2).fit(form(only), y).transform(form(only)).shape == (
            240,
            2,
        )


def test_who_takes_gaps_says_so():
    assert [id for id in IDS if get_tags(make_selector(id)).input_tags.allow_nan] == TAKES_GAPS
    neighbours = make_selector("mutual-info", estimator="neighbours")
    assert not get_tags(neighbours).input_tags.allow_nan


@pytest.mark.parametrize("id", TAKES_GAPS)
@pytest.mark.parametrize("form", FORMS)
def test_travellers_without_any_preparation(id, form):
    table = travellers()
    frame, y = table.drop(columns="survived"), table["survived"]
    assert frame.isna().any().tolist() == [name in ("age", "deck") for name in frame]
    with pytest.warns(UserWarning, match="nearly every sample has a text of its own in 'name'"):
        selector = make_selector(id, n_features_to_select=4).fit(FORMS[form](frame), y)
    chosen = selector.get_feature_names_out().tolist()
    assert len(chosen) == 4 and set(chosen) < set(frame)
    assert selector.ranking_[0] == 7  # the name, which says nothing
    assert id == "random" or {"sex"} < set(chosen)
    out = selector.set_output(transform="pandas").transform(FORMS[form](frame))
    assert out.isna().to_numpy().tolist() == frame[chosen].isna().to_numpy().tolist()


@pytest.mark.parametrize("id", [id for id in TAKES_GAPS if id != "random"])
def test_that_a_number_is_missing_can_be_what_matters(id):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 6)), np.arange(200) % 2
    X[(y == 1) & (rng.random(200) < 0.8), 3] = np.nan
    X[::7, 5] = np.nan
    selector = make_selector(id, n_features_to_select=1).fit(X, y)
    assert selector.support_[3]
    np.testing.assert_array_equal(selector.transform(X), X[:, [3]])
    if id != "random-forest":
        np.testing.assert_allclose(
            clone(selector).fit(sp.csr_array(X), y).scores_, selector.scores_, rtol=1e-9
        )
    if id in COUNTING:
        # The same as with a value of its own for what is missing, which no bin takes in.
        counted = discretize(X).codes.T.astype(float)
        np.testing.assert_array_equal(clone(selector).fit(counted, y).scores_, selector.scores_)


@pytest.mark.parametrize("id", [id for id in IDS if id not in TAKES_GAPS])
@pytest.mark.parametrize("mixed", [True, False], ids=["mixed", "numbers"])
def test_others_refuse_gaps_and_show_the_pipeline_to_use(id, mixed):
    frame, y = trip()
    frame["size"] = frame["size"].mask(np.arange(240) % 5 == 0)
    frame = frame if mixed else frame.drop(columns=["port", "deck"]).astype(float)
    selector = make_selector(id, n_features_to_select=2)
    with pytest.raises(InputError, match=r"X has NaN in 'size', which .* cannot take") as refusal:
        selector.fit(frame, y)
    assert "\n" not in str(refusal.value)
    shown = re.search(r"with (make_pipeline\(.*\)), or take", str(refusal.value))[1]
    tools = (make_pipeline, make_column_transformer, SimpleImputer)
    names = {tool.__name__: tool for tool in tools} | {type(selector).__name__: lambda: selector}
    model = eval(shown, names)
    assert model.fit(frame, y)[-1].support_.sum() == 2
    if not mixed:
        with pytest.raises(InputError, match="X has NaN in '1'"):
            selector.fit(sp.csr_array(frame.to_numpy()), y)


@pytest.mark.parametrize("id", ORDERED)
def test_the_number_of_variables_is_chosen_with_categories_too(id):
    if id == "knockoffs":
        pytest.skip("it has a rule of its own")
    frame, y = trip()
    if id in TAKES_GAPS:
        frame["noise"] = frame["noise"].mask(np.arange(240) % 5 == 0)
    selector = make_selector(id, n_features_to_select="auto").fit(frame, y)
    assert {"port", "size"} <= set(selector.get_feature_names_out())
    # Trees, where they predict better, are fitted for fewer numbers.
    trees = selector.number_curve_.model == "boosted-trees"
    assert selector.number_curve_.ks == ((1, 2, 3, 5) if trees else (1, 2, 3, 4, 5))


def test_what_cannot_be_a_variable_is_named():
    frame, y = trip()
    when = frame.assign(when=pd.Timestamp("2020-01-01"))
    for odd in (when, pl.from_pandas(when), pa.Table.from_pandas(when)):
        with pytest.raises(
            InputError, match=r"column 'when' holds .*: make numbers of it, such as the years"
        ):
            make_selector("mrmr").fit(odd, y)
    with pytest.raises(InputError, match="column 'size' holds complex128"):
        make_selector("mrmr").fit(frame.assign(size=1j), y)
    with pytest.raises(InputError, match="column 'deck' holds values such as "):
        make_selector("mrmr").fit(frame.assign(deck=[[1]] * 240), y)
    with pytest.raises(InputError, match="'neighbours' measures distances, which categories do not have"):
        make_selector("mutual-info", estimator="neighbours").fit(frame, y)
    with pytest.raises(InputError, match="has pairs of features, but those of text have several columns"):
        make_selector("fused-lasso", fusion=[(0, 1)]).fit(frame, y)
    with pytest.raises(ValueError, match="infinity"):
        make_selector("mrmr").fit(frame.assign(size=np.inf), y)
    with pytest.raises(ValueError, match="feature names"):
        make_selector("mrmr").fit(frame, y).transform(frame.rename(columns={"deck": "floor"}))


def test_rare_levels_are_pooled_by_models_and_counted_as_they_are_by_filters():
    frame, y = trip()
    frame.loc[:2, "port"] = ["X", "Y", "Z"]
    lasso = infused.Lasso().fit(frame, y)
    assert [name for name in lasso.coef_names_ if name.startswith("port")] == ["port=C", "port=Q", "port=S"]
    counted = infused.MRMR().fit(frame, y).relevance_[2]
    pooled = frame["port"].where(frame["port"].isin(["S", "C", "Q"]), "(other)")
    assert counted > infused.MRMR().fit(frame.assign(port=pooled), y).relevance_[2]


@pytest.mark.parametrize("n_bins", [5, 256])
@pytest.mark.parametrize("weighted", [False, True])
def test_gaps_have_the_last_code_and_no_part_in_the_bins(n_bins, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)) * (rng.random((600, 4)) < 0.6)
    hole = rng.random((600, 4)) < [0.3, 0.0, 1.1, 0.01]
    weights = rng.integers(1, 4, 600) if weighted else None
    gaps = np.where(hole, np.nan, X)
    found, sparse = (discretize(A, n_bins, weights=weights) for A in (gaps, sp.csc_array(gaps)))
    assert isinstance(sparse, SparseCodes)
    for j in range(4):
        present = ~hole[:, j]
        np.testing.assert_array_equal(sparse.row(j), found.codes[j])
        if present.any():
            counts = None if weights is None else weights[present]
            own = discretize(X[present, j : j + 1], n_bins, weights=counts)
            np.testing.assert_array_equal(found.codes[j][present], own.codes[0])
            assert (found.codes[j][~present] == own.n_codes[0]).all()
    np.testing.assert_array_equal(found.n_codes, sparse.n_codes)
    assert found.n_codes[2] == 1


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="this polars has no whole numbers of 128 bits")
@pytest.mark.parametrize("container", ["default", "pandas", "polars"])
def test_whole_numbers_of_128_bits_are_numbers(container):
    size = [(-1) ** j * 10**30 * j for j in range(12)]
    X = pl.DataFrame({"size": size, "text": ["u", "v", "v"] * 4}, schema_overrides={"size": pl.Int128})
    selector = (
        make_selector("anova", n_features_to_select=1)
        .fit(X, np.arange(12) % 2)
        .set_output(transform=container)
    )
    assert selector.support_[0]
    out = selector.transform(X)
    column = out[:, 0] if container == "default" else out["size"].to_list()
    np.testing.assert_allclose(np.array(column, dtype=float), np.array(size, dtype=float))


@pytest.mark.parametrize("cells", [[10**30, -(10**30)], ["\udc80", "b"]])
def test_a_column_that_polars_cannot_hold_is_named(cells):
    X = pd.DataFrame({"text": ["u", "v", "v"] * 4, "odd": pd.Series(cells * 6, dtype=object)})
    selector = make_selector("anova", n_features_to_select=2).fit(X, np.arange(12) % 2)
    assert selector.transform(X).shape == (12, 2)
    with pytest.raises(InputError, match="polars cannot hold column 'odd': "):
        selector.set_output(transform="polars").transform(X)


def test_whole_numbers_beyond_the_range_are_told_with_their_column():
    X = pd.DataFrame({"odd": pd.Series([10**400, 1] * 6, dtype=object)})
    with pytest.raises(InputError, match="column 'odd' holds whole numbers beyond the range"):
        make_selector("anova", n_features_to_select=1).fit(X, np.arange(12) % 2)
