"""Structural information of scikit-learn's digits: which pixels go well together?"""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import load_digits

from infused import StructuralInformation


def pixel(feature: int) -> str:
    """A digit is 8 x 8 pixels, read row by row."""
    return f"({feature // 8}, {feature % 8})"


def main() -> None:
    """Compute U and print what it says."""
    X, y = load_digits(return_X_y=True)
    print(f"digits: {X.shape[0]} samples x {X.shape[1]} features, {len(np.unique(y))} classes")

    StructuralInformation.from_data(X, y).full()  # compiles, once per machine
    start = time.perf_counter()
    info = StructuralInformation.from_data(X, y)
    U = info.full()
    seconds = time.perf_counter() - start

    print(f"U: {U.shape[0]} x {U.shape[1]} in {seconds * 1e3:.0f} ms by the {info.route} route, ", end="")
    print(f"every entry within {info.error_estimate():.0e} of its definition")
    print(f"entries from {U.min():.4f} to {U.max():.4f}, mean {U.mean():.4f}, symmetric: {(U == U.T).all()}")

    varies = X.std(axis=0) > 0
    ranked = np.argsort(-np.where(varies, U[:, varies].mean(axis=1), -np.inf))
    print("pixels (row, column) with the most structural information on average, joint with all others:")
    for place, feature in enumerate(ranked[:5], start=1):
        print(f"  {place}. pixel {pixel(feature)}: {U[feature, varies].mean():.4f}")
    print(f"constant pixels, which tell nothing: {np.count_nonzero(~varies)}")


if __name__ == "__main__":
    main()
