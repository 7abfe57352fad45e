"""U on a cluster: the bits of U here, from arrays of Dask and from arrays, whatever happens to workers."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp

import infused
from infused import StructuralInformation, structural_information
from infused._cluster import information as distributed
from infused.exceptions import InputError, OperationCancelledError
from infused.information import pair_sums as blocks
from infused.information import structural
from tests.cluster.test_tasks import tasks_of

da = pytest.importorskip("dask.array")

N_SAMPLES, N_FEATURES, TILE = 60, 333, 64  # five whole tiles and a part, far from a multiple of strips


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch, client):
    """Tiles of 64 features in this process; workers take chunks as they come."""
    for module in (blocks, distributed, structural):
        monkeypatch.setattr(module, "TILE", TILE)


def made(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES))
    y = np.arange(N_SAMPLES) % 3
    if kind == "real":
        y = X[:, 0] + rng.normal(size=N_SAMPLES)
    elif kind == "two classes":
        y = y % 2
    elif kind == "ties":  # dense, but most values of a feature are equal
        X = np.where(rng.random(X.shape) < 0.9, 3.0, X)
    elif kind == "zeros":  # dense, mostly zero; not so in the first tile
        X[:, TILE:] = np.where(rng.random((N_SAMPLES, N_FEATURES - TILE)) < 0.95, 0.0, X[:, TILE:])
    elif kind == "sparse":
        X = sp.random_array(X.shape, density=0.1, rng=rng, format="csr")
    elif kind == "one more":
        X = X[:, : TILE + 1]
    return X, y


def lazily(X):
    """The same as an array of Dask, in chunks that are no tiles, cut by samples too."""
    if sp.issparse(X):
        return X
    return da.from_array(X, chunks=(N_SAMPLES // 2, 50))


CASES = [
    ("classes", {}),
    ("classes", {"criterion": "two-way", "graph": "euclidean"}),
    ("classes", {"route": "direct"}),
    ("classes", {"route": "grouped"}),
    ("real", {}),
    ("two classes", {}),
    ("ties", {}),
    ("zeros", {}),
    ("sparse", {}),
    ("one more", {}),
]


@pytest.mark.parametrize(("kind", "options"), CASES)
def test_bits_are_those_of_here(client, kind, options):
    X, y = made(kind)
    here = StructuralInformation.from_data(X, y, **options)
    U, some = here.full(), np.array([70, 3, -1, 69, 3])
    with infused.cluster(client):
        there = StructuralInformation.from_data(lazily(X), y, **options)
        assert isinstance(there, distributed.DistributedInformation)
        assert (there.route, there.rank) == (here.route, here.rank)
        assert there.error_estimate() == here.error_estimate()
        assert np.array_equal(there.full(), U)
        some = some[some < U.shape[0] - 1] if kind != "one more" else np.array([3, -1, 3])
        assert np.array_equal(there.columns(some), here.columns(some))
        if kind == "classes":
            for rows, columns, block in there.tiles():
                assert np.array_equal(block, U[rows, columns])
    assert tasks_of(client) == []


def test_arrays_of_this_process_go_to_the_cluster_too(client):
    X, y = made("classes")
    U = structural_information(X, y)
    with infused.cluster(client):
        assert np.array_equal(structural_information(X, y), U)
        assert type(StructuralInformation.from_data(X[:, :TILE], y)) is StructuralInformation, "one tile"


def test_as_a_lazy_array_and_written_to_zarr(client, tmp_path):
    zarr = pytest.importorskip("zarr")
    X, y = made("classes")
    U = structural_information(X, y)
    with infused.cluster(client):
        there = StructuralInformation.from_data(lazily(X), y)
        assert np.array_equal(client.compute(there.to_dask()).result(), U)
        there.to_zarr(tmp_path / "U.zarr")
    assert np.array_equal(zarr.open_array(str(tmp_path / "U.zarr"), mode="r")[:], U)


@pytest.mark.parametrize("lazy", [True, False])
def test_a_worker_that_is_killed_costs_nothing_but_time(client, lazy):
    X, y = made("classes")
    U = structural_information(X, y)
    killed = []

    def kill(fraction, message):
        if message == "computing U" and fraction > 0.4 and not killed:
            killed.extend(client.run(os.getpid).values())
            for pid in killed[: 1 if lazy else 2]:  # with both, all that was sent there is gone
                os.kill(pid, signal.SIGKILL)

    with infused.cluster(client):
        assert np.array_equal(structural_information(lazily(X) if lazy else X, y, progress=kill), U)
    assert killed


def test_cancelling_leaves_no_task_behind(client):
    X, y = made("classes")
    with infused.cluster(client), pytest.raises(OperationCancelledError, match="computing U"):
        structural_information(lazily(X), y, progress=lambda fraction, message: fraction < 0.5)
    assert tasks_of(client) == []


def test_what_cannot_be_computed_is_refused_in_one_line(client):
    X, y = made("classes")
    with pytest.raises(InputError, match=r"call this inside infused\.cluster\(client\)"):
        structural_information(lazily(X), y)
    X[3, 300] = np.nan
    with infused.cluster(client):
        with pytest.raises(ValueError, match="contains NaN"):
            structural_information(lazily(X), y)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            structural_information(lazily(X), y[:-1])
        with pytest.raises(InputError, match="two dimensions"):
            structural_information(da.ones(5), y)
