"""Features that stay on disk: the selections of the same data in memory, and one line for what is wrong."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from infused import (
    FusedLasso,
    GreedyForward,
    HSICLasso,
    InFusedLasso,
    InLasso,
    Lasso,
    StabilitySelection,
    make_selector,
    open_columns,
)
from infused._columns import ColumnDesign, StoredColumns, stored_array
from infused.data import load_data
from infused.exceptions import InputError
from infused.solvers.coordinate_descent import CLOSEST
from tests.test_columns import copy_at_most

N = 700


def genotypes(rng, n_samples=61, missing=0.0):
    """Neighbours are alike; 0, 1 or 2, and -1 where nothing was called."""
    hidden = rng.normal(size=(n_samples, N + 5))
    G = np.clip(np.rint(sum(hidden[:, j : j + N] for j in range(5)) / 2 + 0.7), 0, 2).astype(np.int8)
    G[:, 40] = 2
    y = G[:, [10, 300, 301, 600]].astype(float) @ [1.0, -1.0, -1.0, 1.0] + 0.2 * rng.normal(size=n_samples)
    G[rng.random(G.shape) < missing] = -1
    return G, y


def filled(G):
    """A missing call is the mean of its feature."""
    X = G.astype(float)
    for j in range(X.shape[1]):
        X[G[:, j] < 0, j] = G[G[:, j] >= 0, j].mean()
    return X


def write_bed(path, G, y, chromosomes=3):
    """PLINK's format: two bits a call, four calls a byte, a variant after the other."""
    bits = {2: 0b00, -1: 0b01, 1: 0b10, 0: 0b11}
    rows = []
    for column in G.T:
        calls = [bits[int(call)] for call in column] + [0] * (-len(column) % 4)
        rows.append(bytes(calls[i] | calls[i + 1] << 2 | calls[i + 2] << 4 | calls[i + 3] << 6
                          for i in range(0, len(calls), 4)))  # fmt: skip
    path.write_bytes(b"\x6c\x1b\x01" + b"".join(rows))
    each = -(-G.shape[1] // chromosomes)
    path.with_suffix(".bim").write_text(
        "".join(f"{1 + j // each}\trs{j}\t0\t{1000 + j}\tA\tG\n" for j in range(G.shape[1]))
    )
    path.with_suffix(".fam").write_text(
        "".join(f"f{i} s{i} 0 0 1 {value}\n" for i, value in enumerate(y.tolist()))
    )


def write(kind, folder, G, y):
    if kind in ("npy C", "npy F"):
        np.save(folder / "x.npy", np.asarray(G, order=kind[-1]))
        return folder / "x.npy"
    if kind == "float32":
        np.save(folder / "x.npy", np.asfortranarray(G, dtype=np.float32))
        return folder / "x.npy"
    if kind == "zarr":
        zarr = pytest.importorskip("zarr")
        made = zarr.open_array(
            str(folder / "x.zarr"), mode="w", shape=G.shape, dtype=G.dtype, chunks=(20, 90)
        )
        made[...] = G
        return folder / "x.zarr"
    if kind == "parquet":
        pd = pytest.importorskip("pandas")
        for n, rows in enumerate((slice(0, 30), slice(30, None))):
            table = pd.DataFrame(G[rows], columns=[f"f{j}" for j in range(G.shape[1])])
            table.to_parquet(folder / f"part-{n}.parquet")
        return folder
    if kind == "h5ad":
        h5py = pytest.importorskip("h5py")
        with h5py.File(folder / "x.h5ad", "w") as file:
            file.create_dataset("X", data=G, chunks=(30, 100))
            for axis, length in (("obs", len(G)), ("var", G.shape[1])):
                frame = file.create_group(axis)
                frame.attrs["_index"] = "names"
                frame["names"] = np.array([f"{axis}{j}" for j in range(length)], dtype=object)
            file["obs"]["value"] = y
        return folder / "x.h5ad"
    write_bed(folder / "x.bed", G, y)
    return folder / "x.bed"


KINDS = ("npy C", "npy F", "float32", "zarr", "parquet", "h5ad", "bed")
SELECTORS = {
    "lasso": Lasso(),
    "path": Lasso(ranking="path"),
    "coefficient": Lasso(ranking="coefficient"),
    "kept": Lasso(keep=[3, 9]),
    "fused": FusedLasso(fusion="chain"),
    "infused": InFusedLasso(),
    "forward": GreedyForward(),
    "anova": make_selector("anova"),
}


@pytest.fixture
def few_at_a_time(monkeypatch):
    """Read little, copy less."""
    copy_at_most(monkeypatch, 9000)
    monkeypatch.setattr("infused._columns.READ_BYTES", 9000)
    monkeypatch.setattr("infused._columns.KEPT_BYTES", 20_000)
    monkeypatch.setattr("infused.data.stored.READ_BYTES", 9000)
    monkeypatch.setattr("infused._columns.ENTRIES_AT_ONCE", 5000)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_what_was_written(few_at_a_time, tmp_path, rng, kind):
    G, y = genotypes(rng)
    columns = open_columns(write(kind, tmp_path, G, y), **({"target": "value"} if kind == "h5ad" else {}))
    X = columns.X
    assert X.shape == G.shape and len(columns.names) == N and X.ndim == 2 and X.size == G.size
    np.testing.assert_array_equal(np.asarray(X), G)
    some = np.array([5, 699, 0, 301, 300])
    np.testing.assert_array_equal(X[:, some], G[:, some])
    np.testing.assert_array_equal(X[3:9, 20:30], G[3:9, 20:30])
    for features in (None, np.arange(3, N, 2), np.arange(0, N, 50)):
        found = [block.columns for block in X.blocks(features)]
        assert len(found) > 1
        np.testing.assert_array_equal(
            np.concatenate(found, axis=1), G if features is None else G[:, features]
        )
    if kind in ("h5ad", "bed"):
        assert columns.y.tolist() == pytest.approx(y.tolist()) and len(columns.samples) == len(y)
    if kind == "bed":
        assert columns.names[:2] == ["rs0", "rs1"] and columns.samples[0] == "s0"
        assert columns.positions[0].tolist()[:1] == ["1"] and columns.positions[1][4] == 1004
        assert len(columns.neighbours) == N - 3  # two steps lead to another chromosome
        edges = {tuple(pair) for pair in columns.neighbours.tolist()}
        assert (0, 1) in edges and (233, 234) not in edges


@pytest.mark.parametrize(
    ("kind", "name"), [("npy C", "lasso"), ("parquet", "forward"), *(("bed", name) for name in SELECTORS)]
)
def test_selections_are_those_in_memory(few_at_a_time, monkeypatch, tmp_path, rng, kind, name):
    G, y = genotypes(rng, missing=0.05 if kind == "bed" else 0.0)
    path = write(kind, tmp_path, G, y)
    selector = SELECTORS[name].set_params(n_features_to_select=8)
    with monkeypatch.context() as patch:
        copy_at_most(patch, 2**24)
        expected = selector.fit(filled(G), y).ranking_, getattr(selector, "coef_", np.zeros(1))
    X = open_columns(path).X
    selector.fit(X, y)
    np.testing.assert_array_equal(selector.ranking_[selector.ranking_ <= 8].sum(), 36)
    np.testing.assert_array_equal(np.flatnonzero(selector.ranking_ <= 8), np.flatnonzero(expected[0] <= 8))
    np.testing.assert_allclose(getattr(selector, "coef_", np.zeros(1)), expected[1], atol=2e-4)
    assert getattr(selector, "certificate_", 0.0) <= 1e-4
    np.testing.assert_array_equal(selector.transform(X), filled(G)[:, selector.get_support()])
    if kind != "npy C":
        assert len(selector.get_feature_names_out()) == 8


@pytest.mark.parametrize("kind", ["npy F", "zarr", "bed"])
def test_paths_are_those_in_memory(few_at_a_time, tmp_path, rng, kind):
    G, y = genotypes(rng)
    there = Lasso().regularization_path(open_columns(write(kind, tmp_path, G, y)).X, y, n_lambdas=6)
    here = Lasso().regularization_path(G.astype(float), y, n_lambdas=6)
    np.testing.assert_allclose(there.lambda1, here.lambda1)
    np.testing.assert_allclose(there.coef, here.coef, atol=2e-3)
    np.testing.assert_allclose(there.explained, here.explained, atol=1e-3)
    assert there.certificate.max() <= 1e-4


def test_a_large_map_stays_on_disk(few_at_a_time, tmp_path, rng, monkeypatch):
    G, y = genotypes(rng)
    np.save(tmp_path / "x.npy", G)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    seen = []
    whole = ColumnDesign.of.__func__
    monkeypatch.setattr(
        ColumnDesign, "of", classmethod(lambda cls, source, *a: seen.append(source) or whole(cls, source, *a))
    )
    monkeypatch.setattr("infused.selectors.inputs.checks.COPIED", 9000)
    selector = Lasso(n_features_to_select=3).fit(mapped, y)
    assert all(isinstance(source, StoredColumns) for source in seen) and seen
    np.testing.assert_array_equal(selector.ranking_, Lasso(n_features_to_select=3).fit(G, y).ranking_)
    assert stored_array(mapped[:, 3:]) is None or stored_array(mapped[:, 3:]).shape == (61, N - 3)


@pytest.mark.parametrize(("kind", "id"), [("npy F", "jmi"), ("zarr", "disr"), ("bed", "mrmr")])
def test_bins_are_those_in_memory(few_at_a_time, tmp_path, rng, kind, id):
    G, y = genotypes(rng, missing=0.05 if kind == "bed" else 0.0)
    X = np.where(G < 0, np.nan, G) if kind == "bed" else G + (kind == "npy F") * rng.normal(size=G.shape)
    columns = open_columns(write(kind, tmp_path, G if kind == "bed" else X, y)).X
    for selector in (make_selector(id), make_selector("mutual-info"), make_selector(id, n_bins=3)):
        selector.set_params(n_features_to_select=5)
        expected = selector.fit(X, y).ranking_
        np.testing.assert_array_equal(selector.fit(columns, y).ranking_, expected)


def test_pairs_of_whole_numbers_of_one_byte_on_disk(few_at_a_time, tmp_path, rng):
    G, y = genotypes(rng)
    G = (G[:, :90] * 60 - 100 + rng.integers(0, 9, (61, 90))).astype(np.int8)
    for selector in (InLasso(n_features_to_select=4), make_selector("mrmr", groups=np.arange(90) // 2)):
        expected = selector.set_params(n_features_to_select=4).fit(G.astype(float), y).ranking_
        again = selector.fit(open_columns(write("npy C", tmp_path, G, y)).X, y).ranking_
        np.testing.assert_array_equal(again[expected <= 4], expected[expected <= 4])


@pytest.mark.parametrize("kind", ["npy C", "npy F"])
def test_half_samples_are_those_in_memory(few_at_a_time, tmp_path, rng, kind):
    G, y = genotypes(rng)
    X = open_columns(write(kind, tmp_path, G, y)).X
    np.testing.assert_array_equal(np.asarray(X[np.arange(61) % 2 == 0]), G[::2])
    stable = StabilitySelection(Lasso(n_features_to_select=4, tol=1e-6), n_pairs=3, random_state=0)
    expected = stable.fit(G.astype(float), y).frequencies_
    np.testing.assert_array_equal(stable.fit(X, y).frequencies_, expected)
    weights = np.arange(61) % 3
    lasso = make_selector("anova", n_features_to_select=4)
    expected = lasso.fit(G.astype(float), y, weights).scores_
    np.testing.assert_allclose(lasso.fit(X, y, weights).scores_, expected, atol=1e-9)


def test_more_features_than_are_at_hand_enter(few_at_a_time, tmp_path, rng, monkeypatch):
    monkeypatch.setattr("infused.selectors.linear.model.AT_HAND", 61 * 64)
    G, y = genotypes(rng)
    X = open_columns(write("npy F", tmp_path, G, y)).X
    passes = []
    blocks = StoredColumns.blocks
    monkeypatch.setattr(StoredColumns, "blocks", lambda *a: passes.append(1) or blocks(*a))
    path = Lasso().regularization_path(X, y, lambda1=np.geomspace(1, 0.005, 8))
    assert path.n_features[-1] > 64 / CLOSEST  # more than were taken for close
    assert path.certificate.max() <= 1e-4
    assert len(passes) < 60


def test_samples_without_a_phenotype_are_left_out(tmp_path, rng):
    G, _ = genotypes(rng)
    status = np.where(rng.random(61) < 0.5, 2, 1)
    status[[0, 7]] = 0, -9
    write_bed(tmp_path / "x.bed", G, status)
    with pytest.warns(UserWarning, match=r"2 of 61 samples of .*x\.bed.* have no phenotype"):
        columns = open_columns(tmp_path / "x.bed")
    left = np.setdiff1d(np.arange(61), [0, 7])
    assert columns.y.tolist() == status[left].tolist() and columns.y.dtype == np.int64
    np.testing.assert_array_equal(np.asarray(columns.X), G[left])
    np.testing.assert_array_equal(columns.X.take(np.array([9, 2])), G[left][:, [9, 2]])


def test_genotypes_are_tables_too(tmp_path, rng):
    G, y = genotypes(rng, missing=0.02)
    path = write("bed", tmp_path, G[:, :40], y)
    found = load_data(path)
    assert found.target_name == "phenotype" and found.y.tolist() == y.tolist()
    assert list(found.feature_names)[:2] == ["rs0", "rs1"]
    order = rng.permutation(61)
    rows = "".join(f"s{i}\t{y[i] > 0}\n" for i in order)
    (tmp_path / "labels.tsv").write_text("sample\tgrown\n" + rows)
    joined = load_data(path, target_file=tmp_path / "labels.tsv")
    assert (joined.y == "True").tolist() == (y > 0).tolist() or joined.y.tolist() == (y > 0).tolist()
    np.testing.assert_array_equal(joined.X, found.X)


def test_damaged_genotypes_are_one_line(tmp_path, rng):
    G, y = genotypes(rng)
    path = tmp_path / "x.bed"
    write_bed(path, G, y)
    whole, bim = path.read_bytes(), path.with_suffix(".bim").read_text()
    for content, words in (
        (whole[:-1], "incomplete, or belongs to another"),
        (whole + b"0", "incomplete, or belongs to another"),
        (b"\x6c\x1b\x00" + whole[3:], "stored by sample"),
        (b"abc" + whole[3:], "no PLINK .bed file"),
        (b"", "no PLINK .bed file"),
    ):
        path.write_bytes(content)
        refused(partial(open_columns, path), words)
    path.write_bytes(whole)
    for content, words in (
        (bim[:-4], "line 700 has"),
        ("", "it is empty"),
        ("1 rs0 0 x A G\n" * N, "is no number"),
    ):
        path.with_suffix(".bim").write_text(content)
        refused(partial(open_columns, path), words)
    path.with_suffix(".bim").unlink()
    refused(partial(open_columns, path), "there is no .*x.bim")
    refused(partial(open_columns, path, "y"), "target")


def refused(call, words):
    with pytest.raises(InputError, match=words) as found:
        call()
    assert len(str(found.value).splitlines()) == 1


@pytest.mark.parametrize("kind", ["npy C", "npy F", "bed"])
def test_a_file_that_changes_or_is_cut_is_one_line(few_at_a_time, tmp_path, rng, kind):
    G, y = genotypes(rng)
    path = write(kind, tmp_path, G, y)
    X, whole = open_columns(path).X, path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(lambda: Lasso(n_features_to_select=3).fit(X, y), "ends before its last value|changed while")
    path.write_bytes(whole[:-1] + b"\x00")
    refused(lambda: Lasso(n_features_to_select=3).fit(X, y), "changed while it was read: open it again")
    path.unlink()
    refused(lambda: X.take(np.array([1])), "changed while|cannot be read")


def test_what_cannot_be_read_from_disk_is_one_line(few_at_a_time, tmp_path, rng):
    G, y = genotypes(rng)
    path = write("npy F", tmp_path, G.astype(float), y)
    X = open_columns(path).X
    refused(lambda: HSICLasso(n_features_to_select=2).fit(X, y), "X is on disk, and HSICLasso needs all")
    refused(lambda: Lasso(n_features_to_select="auto").fit(X, y), "needs X in memory")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Lasso().fit(X, y[1:])
    holes = G.astype(float)
    holes[5, 77] = np.nan
    np.save(path, np.asfortranarray(holes))
    refused(
        lambda: Lasso().fit(open_columns(path).X, y), "missing or infinite values, the first in feature 77"
    )
    np.save(path, np.arange(5))
    refused(lambda: open_columns(path), "two dimensions of numbers")
    path.write_bytes(b"\x93NUMPY")
    refused(lambda: open_columns(path), "could not be read as NumPy")


@pytest.mark.parametrize(
    ("place", "shape", "words"),
    [
        ("var/names", (3,), "names in var of .*: 3 values where X has 700"),
        ("var/names", (10**11,), "100000000000 values where X has 700"),
        ("obs/names", (62,), "names in obs of .*: 62 values where X has 61"),
        ("obs/value", (61, 2), "the target 'value' of .*: 61 x 2 values where X has 61"),
        ("obs/value", (10**12,), "where X has 61"),
        ("X", (61, 10**12), "61 x 1,000,000,000,000 values .* more than the memory budget"),
        ("X", (10**12, 700), "1,000,000,000,000 x 700 values .* more than the memory budget"),
    ],
)
def test_what_a_file_claims_is_compared_before_it_is_read(tmp_path, rng, place, shape, words):
    """HDF5 stores nothing of values that were never written, however many are claimed."""
    h5py = pytest.importorskip("h5py")
    path = write("h5ad", tmp_path, *genotypes(rng))
    with h5py.File(path, "a") as file:
        del file[place]
        chunks = tuple(min(length, 100) for length in shape)
        file.create_dataset(
            place,
            shape=shape,
            chunks=chunks,
            dtype=h5py.string_dtype() if "names" in place else np.float64,
        )
    refused(lambda: open_columns(path, "value"), words)


def test_a_target_is_a_column_of_obs(tmp_path, rng):
    h5py = pytest.importorskip("h5py")
    path = write("h5ad", tmp_path, *genotypes(rng))
    with h5py.File(path, "a") as file:
        file["obs"]["kind"] = np.array([b"u", b"v", b"v"])[np.arange(61) % 3]
    for other in ("/X", "../X", "./value"):
        refused(lambda other=other: open_columns(path, other), "has no column")
    columns = open_columns(path, "kind")
    assert columns.y[:3].tolist() == ["u", "v", "v"]
    assert Lasso(n_features_to_select=2).fit(columns.X, columns.y).support_.sum() == 2


def test_a_group_of_another_size_is_one_line(tmp_path, rng):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w")
    group.create_array("X", shape=(12, 4), dtype="f8", chunks=(12, 4))
    group.create_array("y", shape=(5,), dtype="i8", chunks=(5,))
    refused(lambda: open_columns(tmp_path / "g.zarr"), "y of .* where X has 12 samples")
    group.create_array("X", shape=(12, 10**10), dtype="f8", chunks=(12, 10**7), overwrite=True)
    refused(lambda: open_columns(tmp_path / "g.zarr"), "more than the memory budget")
