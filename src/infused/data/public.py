"""Public data of the kinds that the paper has: genes, pictures, words. Where each is, and what is known.

The sums of the files in `MORE` are not known: their sizes are those that the collection states, and whatever
is downloaded first and has that size settles the sum.
"""

from __future__ import annotations

from infused.data.paper import PAPER, SCIKIT_FEATURE, SCIKIT_FEATURE_FILES, StoredSet

__all__ = ["MORE", "SETS"]


def _more(name: str, title: str, n_samples: int, n_features: int, n_classes: int) -> StoredSet:
    address = f"{SCIKIT_FEATURE_FILES}{name}.mat"
    return StoredSet(title, n_samples, n_features, n_classes, SCIKIT_FEATURE, None, address)


MORE = {
    "colon": _more("colon", "gene expression, colon tumours", 62, 2000, 2),
    "GLIOMA": _more("GLIOMA", "gene expression, types of glioma", 50, 4434, 4),
    "lung": _more("lung", "gene expression, types of lung cancer", 203, 3312, 5),
    "Prostate-GE": _more("Prostate_GE", "gene expression, prostate cancer", 102, 5966, 2),
    "TOX-171": _more("TOX_171", "gene expression, toxicology", 171, 5748, 4),
    "COIL20": _more("COIL20", "things on a turntable, 32 x 32 pixels", 1440, 1024, 20),
    "ORL": _more("ORL", "faces, 32 x 32 pixels", 400, 1024, 40),
    "Yale": _more("Yale", "faces, 32 x 32 pixels", 165, 1024, 15),
    "warpPIE10P": _more("warpPIE10P", "faces by pose, 44 x 55 pixels", 210, 2420, 10),
    "PCMAC": _more("PCMAC", "words of newsgroups: PC or Mac", 1943, 3289, 2),
    "madelon": _more("madelon", "made data: 20 features matter, 480 do not", 2600, 500, 2),
}

SETS = {**PAPER, **MORE}
