"""X never passes through the scheduler: counted in a scheduler that is a process of its own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import infused
from infused.exceptions import ScreeningWarning

da = pytest.importorskip("dask.array")


def test_the_scheduler_sees_names_and_figures_alone():
    from benchmarks.cluster import lazily, made
    from benchmarks.separate_cluster import bytes_passed, count_bytes, separate_cluster

    n_samples, n_features = 300, 6_000
    lazy = lazily(n_samples, n_features, 1_500)
    X, y = made(n_samples, n_features)
    with separate_cluster(2) as client, infused.cluster(client), warnings.catch_warnings():
        warnings.simplefilter("ignore", ScreeningWarning)
        client.run_on_scheduler(count_bytes)
        with infused.config_context(memory_budget="40MB"):
            infused.Lasso(lambda1=0.5, n_features_to_select=5).fit(lazy, y)
        ranked = client.run_on_scheduler(bytes_passed)
        infused.StructuralInformation.from_data(X, y).columns(np.arange(100))
        both = client.run_on_scheduler(bytes_passed)
    assert ranked > 0 and both > ranked, "it counts"
    assert both < 0.03 * X.nbytes
