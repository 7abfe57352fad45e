"""The eight data sets of the paper: not ours to hand out, but known by the sum of their files."""

from __future__ import annotations

from dataclasses import dataclass

from infused.data.raw import GridOrder

__all__ = ["PAPER", "SCIKIT_FEATURE", "SCIKIT_FEATURE_FILES", "StoredSet"]

SCIKIT_FEATURE = "scikit-feature repository (Arizona State University)"
DENG_CAI = "Deng Cai's page of face and digit data"
SCIKIT_FEATURE_FILES = "https://jundongl.github.io/scikit-feature/files/datasets/"
DENG_CAI_FILES = "http://www.cad.zju.edu.cn/home/dengcai/Data/"


@dataclass(frozen=True)
class StoredSet:
    """What is known of a public file of data, and where it is."""

    title: str
    n_samples: int
    n_features: int
    n_classes: int
    collection: str
    """The public collection that it comes from."""
    sha256: str | None
    """Of its file; None where it is not known, then the first download settles it."""
    address: str | None
    """Of its file; None where no public file has this sum."""
    grid_shape: tuple[int, int] | None = None
    grid_order: GridOrder = "rows"
    sparse: bool = False


PAPER = {
    "USPS": StoredSet(
        "handwritten digits from envelopes, 16 x 16 pixels", 9298, 256, 10, DENG_CAI,
        "99e71a60ca6f47c45d5478c964746d695ba21efffcd93b7e147fae6518cd768a",
        DENG_CAI_FILES + "USPS/USPS.mat", (16, 16),
    ),
    "PIE": StoredSet(
        "faces by pose and light, 32 x 32 pixels", 11554, 1024, 68, DENG_CAI,
        "4cd3bbea0426cddbc08f0bf820bfeb77da137724090e285a8b272099613a9f28",
        None, (32, 32), "columns",
    ),
    "YaleB": StoredSet(
        "faces under many lights, 32 x 32 pixels", 2414, 1024, 38, DENG_CAI,
        "3fbbda4eb781b9bb28025189677b6727706e114eb0215bbfd718f1f4fcb54b99",
        DENG_CAI_FILES + "YaleB/YaleB_32x32.mat", (32, 32), "columns",
    ),
    "Lymphoma": StoredSet(
        "gene expression, types of lymphoma", 96, 4026, 9, SCIKIT_FEATURE,
        "bd834ed911d47ecf2e07625ed77617d514d89ee398fa2e7a787230f7cf5243f8",
        SCIKIT_FEATURE_FILES + "lymphoma.mat",
    ),
    "Leukemia": StoredSet(
        "gene expression, two types of leukaemia", 72, 7129, 2, SCIKIT_FEATURE,
        "068afe0fe1021932e1e7d801294c267de8aeaa9d41899acfac024e72b0d44c1e",
        SCIKIT_FEATURE_FILES + "ALLAML.mat",
    ),
    "RELATHE": StoredSet(
        "words of newsgroups: religion or atheism", 1427, 4322, 2, SCIKIT_FEATURE,
        "1091fe26c721aa69ddc5ce3ebcef54e03565809cae07e1769cef45ad23ab28d0",
        SCIKIT_FEATURE_FILES + "RELATHE.mat", sparse=True,
    ),
    "BASEHOCK": StoredSet(
        "words of newsgroups: baseball or hockey", 1993, 4862, 2, SCIKIT_FEATURE,
        "e0452e0f3c0fefdc5cb6352165e4ba4a25c3a2a7b5a5b4d44e103742d6317aa0",
        SCIKIT_FEATURE_FILES + "BASEHOCK.mat", sparse=True,
    ),
    "Isolet1": StoredSet(
        "spoken letters of the alphabet", 1560, 617, 26, SCIKIT_FEATURE,
        "ea73c69b1342a7def8199458e53a70307a83d557eceb2579863dda57c3ccd2b1",
        SCIKIT_FEATURE_FILES + "Isolet.mat",
    ),
}  # fmt: skip
