"""Selectors by id: ours, and those that other packages register.

A package adds its own through an entry point of the group ``infused.selectors``: its name is the id, its
value a class (or function) that takes ``n_features_to_select`` and further options by keyword and returns a
scikit-learn selector.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from infused._runtime.messages import quoted, reason, suggestion
from infused.exceptions import InputError, Setting

ENTRY_POINTS = "infused.selectors"
#: The methods of the paper, in the order of its tables.
IN_PAPER = ("lasso", "ulasso", "fused-lasso", "group-lasso", "in-lasso", "infused-lasso", "in-elastic-net")


@dataclass(frozen=True)
class SelectorInfo:
    """One entry of the registry."""

    id: str
    where: str
    """Module and name of the constructor."""
    summary: str
    """What it does, in a line."""
    reference: str = ""
    """Where it was published."""
    regression: bool = True
    """Whether it takes real targets."""
    fixed: dict[str, Any] = field(default_factory=dict)
    """Parameters that make a variant of what it is."""
    inside: str = ""
    """The parameter that holds other methods, where it has one."""
    package_version: str = ""
    """Of the package that it comes from, where that is another."""

    @property
    def in_paper(self) -> bool:
        """Return whether it is one of the paper's."""
        return self.id in IN_PAPER

    @property
    def ours(self) -> bool:
        """Return whether it is part of infused, so that making it runs no code of others."""
        return self.where.startswith("infused.")

    def load(self) -> Any:
        """Return the constructor."""
        found = find_class(self.where)
        if self.id == self.where and not hasattr(found, "fit"):
            raise InputError(f"{self.id!r} is no class of a selector: it has no fit")
        return found

    def make(self, parameters: Mapping[str, Any]) -> Any:
        """Make the selector with these parameters."""
        try:
            return self.load()(**{**self.fixed, **parameters})
        except TypeError as error:
            raise InputError(f"{self.id} does not take these parameters: {error}") from error


def find_class(path: str) -> Any:
    """Import what ``package.module:Name`` or ``package.module.Name`` names."""
    module, _, name = path.rpartition(":" if ":" in path else ".")
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # whatever a package of others does while it is imported
        raise InputError(f"{path!r} cannot be imported: {reason(error)}") from error


def _ours(id: str, where: str, summary: str, reference: str = "", **more: Any) -> SelectorInfo:
    return SelectorInfo(id, f"infused.selectors.{where}", summary, reference, **more)


_OURS = (
    _ours(
        "infused-lasso",
        "linear.infused_lasso:InFusedLasso",
        "fused lasso with structural information",
        "Bai et al., Fused Lasso for Feature Selection using Structural Information",
    ),
    _ours(
        "in-elastic-net",
        "linear.infused_lasso:InElasticNet",
        "elastic net with structural information",
        "Cui et al. 2019",
    ),
    _ours(
        "in-lasso",
        "linear.infused_lasso:InLasso",
        "lasso with the information of pairs of features",
        "Zhang et al. 2017",
    ),
    _ours("lasso", "linear.lassos:Lasso", "lasso (multi-task for classes)", "Tibshirani 1996"),
    _ours("ulasso", "linear.lassos:ULasso", "uncorrelated lasso", "Chen et al. 2013"),
    _ours("fused-lasso", "linear.lassos:FusedLasso", "fused lasso", "Tibshirani et al. 2005"),
    _ours(
        "group-lasso",
        "linear.lassos:GroupLasso",
        "supervised group lasso on clusters of features",
        "Ma, Song, Huang 2007",
    ),
    _ours(
        "greedy-forward", "greedy.forward:GreedyForward", "forward selection by least squares", "Miller 2002"
    ),
    _ours(
        "hsic-lasso",
        "kernel.hsic_lasso:HSICLasso",
        "lasso of the target's graph on the graphs of features",
        "Yamada et al. 2014; Climente-González et al. 2019",
    ),
    _ours(
        "knockoffs",
        "control.knockoffs:KnockoffSelector",
        "features that beat their knockoff copies, at a false discovery rate",
        "Candès et al. 2018; Ren, Barber 2024",
    ),
    _ours("mifs", "greedy.filters:MIFS", "mutual information less redundancy", "Battiti 1994"),
    _ours("mrmr", "greedy.filters:MRMR", "maximum relevance, minimum redundancy", "Peng, Long, Ding 2005"),
    _ours(
        "jmim", "greedy.filters:JMIM", "joint mutual information maximisation", "Bennasar, Hicks, Setchi 2015"
    ),
    _ours("jmi", "greedy.filters:JMI", "joint mutual information", "Yang, Moody 1999"),
    _ours("cmim", "greedy.filters:CMIM", "conditional mutual information maximisation", "Fleuret 2004"),
    _ours("disr", "greedy.filters:DISR", "double input symmetrical relevance", "Meyer, Bontempi 2006"),
    _ours("random", "scores.univariate:RandomSelector", "features at random"),
    _ours("anova", "scores.univariate:AnovaSelector", "F value of each feature"),
    _ours(
        "mutual-info",
        "scores.univariate:MutualInformationSelector",
        "mutual information of each feature",
        "Cover, Thomas 1991",
    ),
    _ours(
        "l1-logistic",
        "scores.importances:L1LogisticSelector",
        "logistic regression with an l1 penalty",
        "Fan et al. 2008",
        regression=False,
    ),
    _ours(
        "random-forest",
        "scores.importances:RandomForestSelector",
        "impurity importance in a random forest",
        "Breiman 2001",
    ),
    _ours(
        "boosted-trees",
        "scores.importances:BoostedTreesSelector",
        "gain or permutation importance in boosted trees",
        "Friedman 2001; Ke et al. 2017",
    ),
    _ours(
        "auto",
        "choose.auto:AutoSelector",
        "method, parameters and number by cross-validation",
        "Breiman et al. 1984",
        inside="methods",
    ),
    _ours(
        "stability",
        "control.stability:StabilitySelection",
        "features that halves of the samples agree on",
        "Meinshausen, Bühlmann 2010; Shah, Samworth 2013",
        inside="selector",
    ),
)


def _ablation(part: str, where: str, summary: str, **fixed: Any) -> SelectorInfo:
    return _ours(f"infused-lasso[{part}]", where, summary, fixed=fixed)


#: Variants of InFusedLasso with one part changed: made by name, and not listed.
ABLATIONS = {
    info.id: info
    for info in (
        _ablation(
            "equal-ridge", "linear.infused_lasso:EqualRidge", "a ridge in the place of the structural term"
        ),
        _ablation(
            "permuted-U", "linear.infused_lasso:PermutedStructure", "the structural term of other features"
        ),
        _ablation("no-fusion", "linear.infused_lasso:InFusedLasso", "without fusion", lambda2=0.0),
        _ablation("labels", "linear.infused_lasso:InFusedLasso", "with labels for y", target="label"),
    )
}


def available_selectors() -> list[str]:
    """List the ids that :func:`make_selector` takes: ours first, then those of other packages by name.

    Returns
    -------
    list of str
        The ids.

    See Also
    --------
    make_selector : A selector by its id.

    Examples
    --------
    >>> from infused import available_selectors
    >>> available_selectors()[:3]
    ['infused-lasso', 'in-elastic-net', 'in-lasso']
    """
    return list(_registry())


def selector_info(id: str, *, allow_imports: bool = False) -> SelectorInfo:
    """Look one selector up in the registry; a dotted path names a class only where imports are allowed.

    >>> from infused.selectors.registry import selector_info
    >>> selector_info("mrmr").summary
    'maximum relevance, minimum redundancy'
    """
    registry = _registry()
    if id in registry:
        return registry[id]
    if id in ABLATIONS:
        return ABLATIONS[id]
    if "." in id and allow_imports:
        return SelectorInfo(id, id, "a class of your own")
    if "." in id:
        raise InputError(
            f"{quoted(id)} is not a registered method but a path to code, which would run: if you trust it, "
            "allow it with ",
            Setting("allow_imports", True),
        )
    hint = suggestion(id, list(registry)) or f"; there are {', '.join(registry)}"
    raise InputError(f"there is no selector {quoted(id)}{hint}")


def id_of(kind: type) -> str:
    """Return the id of a class of ours; the dotted path of another."""
    path = f"{kind.__module__}:{kind.__name__}"
    return next((info.id for info in _registry().values() if info.where == path), path.replace(":", "."))


def make_selector(id: str, *, allow_imports: bool = False, **parameters: Any) -> Any:
    """Make a selector by its id, with good defaults for whatever is not given.

    Parameters
    ----------
    id : str
        One of :func:`available_selectors`; where imports are allowed, also the dotted path of a class.
    allow_imports : bool, default=False
        Whether ``id`` may be a dotted path. The code that it names is imported and runs, so allow it for
        texts of your own only.
    **parameters : dict
        What its constructor takes.

    Returns
    -------
    selector
        Of scikit-learn's kind, not fitted.

    Raises
    ------
    InputError
        Where there is no such selector, or it does not take a parameter.

    See Also
    --------
    available_selectors : The ids.
    select : From data to selected features in one call.

    Examples
    --------
    >>> from infused import make_selector
    >>> make_selector("mrmr", n_features_to_select=50)
    MRMR(n_features_to_select=50)
    """
    return selector_info(id, allow_imports=allow_imports).make(parameters)


@cache
def _registry() -> dict[str, SelectorInfo]:
    """Collect all selectors; an id of ours cannot be taken by another package."""
    registry = {info.id: info for info in _OURS}
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        if _is_installed(entry):
            registry.setdefault(entry.name, _theirs(entry))
    return registry


def _is_installed(entry: EntryPoint) -> bool:
    """Return False for what lies in the working folder, which Python may search as if it were installed."""
    with suppress(OSError):
        return entry.dist is None or not Path().samefile(str(entry.dist.locate_file("")))
    return True


def _theirs(entry: EntryPoint) -> SelectorInfo:
    package = entry.dist.name if entry.dist else entry.module
    version = entry.dist.version if entry.dist else ""
    return SelectorInfo(entry.name, entry.value, f"from the package {package}", package_version=version)


#: What everything had before there were versions.
FIRST = "1"

#: Of those that changed since; raise the number with any change of what a selector answers.
CHANGED = {
    # 2: one order serves every number of features; features are fused only where their order means something.
    # 3: solvers go on until the order is certain, whatever their tolerance.
    # 4: copies of a feature and fused features are ties; of very many features U is formed where needed.
    # 5: copies of a feature share coefficients in one way also where features are fused.
    # 6: the default ranking is recursive elimination by the model itself, down to one feature.
    "infused-lasso": "6",
    "in-elastic-net": "6",
    "in-lasso": "6",
    "lasso": "6",
    "ulasso": "6",
    "fused-lasso": "6",
    "group-lasso": "6",
    # 2: the linear selectors behind them rank by recursive elimination.
    # 3 of auto: boosted trees evaluate beside a linear model, and two methods more are tried.
    # 4 of auto: bins with tails in what it tries.
    "auto": "4",
    "stability": "2",
    # 2: the outer bins are cut again into tails.
    **dict.fromkeys(("mifs", "mrmr", "jmim", "jmi", "cmim", "disr"), "2"),
    # 2: bins are counted exactly instead of a neighbours' estimate.
    # 3: the outer bins are cut again into tails.
    "mutual-info": "3",
    # 2: clusters from five times as many features as samples; a shorter path.
    # 4: copies of samples that are far out are far out with them.
    "knockoffs": "4",
    # 2: the trees' samples are drawn as whole weights would repeat them.
    "random-forest": "2",
}


def selector_version(id: str) -> str:
    """Return the version of what this id names today.

    That of an ablation is the version of what it changes, and that of a selector from another package is the
    package's. A class of one's own, named by its path, has none that could be known: ``--recompute`` measures
    it anew.

    >>> from infused.selectors.registry import selector_version
    >>> selector_version("infused-lasso"), selector_version("random")
    ('6', '1')
    """
    if id in ABLATIONS:
        return selector_version(id.partition("[")[0])
    if id in available_selectors():
        return CHANGED.get(id) or selector_info(id).package_version or FIRST
    return FIRST
