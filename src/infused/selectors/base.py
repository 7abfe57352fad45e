"""What every selector shares: the number of features, the ranking, the mask."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, metadata
from inspect import cleandoc
from numbers import Integral, Real
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from infused._columns import StoredColumns
from infused._runtime.checks import check_varied, in_double, sound
from infused._runtime.compat import CallbackSupport, Interval, StrOptions, output_container
from infused._runtime.processes import is_collection
from infused._typing import Array, Floats, Ints, TargetKind
from infused.datafits import survival_target
from infused.exceptions import InputError, Setting
from infused.graphs.validation import comparable
from infused.samples import ALONE, Samples
from infused.selectors.inputs.frames import has_texts, kept_columns
from infused.selectors.inputs.groups import Groups

if TYPE_CHECKING:
    from infused.selectors.inputs.checks import Inputs

#: What ``n_features_to_select`` may be, for scikit-learn's validation of parameters.
NUMBER_OF_FEATURES = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="neither"),
    StrOptions({"auto"}),
    None,
]

WEIGHT = [Interval(Real, 0, None, closed="left")]  # what a lambda may be


Kind = TypeVar("Kind", bound=type[Any])
SECTION = re.compile(r"(?:^|\n\n)([A-Z][a-z]+(?: Also)?)\n-+\n")
PLACEHOLDER = re.compile(r"^( *)%\((\w+)\)s$", re.MULTILINE)


def documented(*others: type[Any]) -> Callable[[Kind], Kind]:
    """Fill the placeholders in a docstring with what those of its bases, and of other classes, say.

    ``%(keep)s`` on a line of its own stands for the description of one parameter or attribute, and
    ``%(parameters)s`` and ``%(attributes)s`` for all those of the nearest base. Under ``python -OO`` there is
    nothing to fill.
    """

    def fill(cls: Kind) -> Kind:
        if cls.__doc__ is not None:
            known: dict[str, str] = {}
            for base in (*others, *reversed(cls.__mro__[1:])):
                known |= _described(base.__doc__ or "")
            cls.__doc__ = PLACEHOLDER.sub(lambda found: indent(known[found[2]], found[1]), cls.__doc__)
        return cls

    return fill


def _described(text: str) -> dict[str, str]:
    """Read what a docstring says of each parameter and attribute, and of all of them."""
    _, *parts = SECTION.split(cleandoc(text))
    found: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        if name in ("Parameters", "Attributes"):
            found[name.lower()] = body.strip()
            found |= {part.partition(" : ")[0]: part for part in re.split(r"\n(?=\S)", body.strip())}
    return found


class SoundSelector(SelectorMixin):  # type: ignore[misc]  # scikit-learn carries no types
    """scikit-learn's mixin by the mask ``support_``, for arrays that were checked."""

    support_: Any

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Samples. Texts and categories pass as they are, levels that were never seen among them.

        Returns
        -------
        array, sparse matrix or data frame of shape (n_samples, n_selected)
            Their selected features: an array, of objects where texts are among them, or the frame that
            ``set_output`` asks for.
        """
        if isinstance(X, StoredColumns):
            return X[:, np.flatnonzero(self.get_support())]
        if not has_texts(X):
            return super().transform(sound(X))
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return kept_columns(X, self.get_support(), output_container(self))

    def inverse_transform(self, X: Any) -> Any:
        """Put columns of zeros where :meth:`transform` took features away.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_selected)
            Samples with the selected features alone.

        Returns
        -------
        array or sparse matrix of shape (n_samples, n_features)
            The same with zeros in the place of the others.
        """
        return super().inverse_transform(sound(X))

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_


@documented()
class BaseSelector(CallbackSupport, SoundSelector, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """A scikit-learn selector with ``scores_``, ``ranking_`` and ``support_``.

    A subclass sets them in ``fit``; this class turns them into the mask that scikit-learn asks for.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many features: a number, a fraction, "auto" for the smallest number that predicts within one
        standard error of the best (by cross-validation), or None for half of them.
    groups : array-like of shape (n_features,), mapping or None, default=None
        Columns that are one variable, kept or dropped whole: one label for each column, or a mapping from
        names to columns (by position, or by name for a data frame), where columns that are left out are
        variables of their own. Then ``n_features_to_select`` counts groups.
    keep : array-like or None, default=None
        Features that are always selected, by name or position (groups by name): they have the first ranks, in
        this order, and count in ``n_features_to_select``.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The mask of the selected features.
    group_names_ : ndarray of object of shape (n_groups,)
        The groups in the order of their first columns, which is that of ``scores_`` and ``ranking_``; only
        where ``groups`` was given.
    number_curve_ : NumberCurve
        The scores of a linear model against the number of features; only where
        ``n_features_to_select="auto"``.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Their names; only where X was a data frame whose column names are all texts.
    """

    n_features_to_select: Any
    groups: Any
    keep: Any
    _takes_survival = False  # whether y may hold times and events
    _doc_link_module = "infused"  # scikit-learn's name for whose selectors have pages here

    @property
    def _doc_link_template(self) -> str:
        """Return where the question mark of the HTML box of a selector leads; empty without a site."""
        site = _site()
        return f"{site.rstrip('/')}/api/generated/infused.{{estimator_name}}.html" if site else ""

    def _variables(self, X: Any) -> Groups:
        """Return the variables: the groups of the columns of X, or the columns themselves."""
        return Groups.parse(self.groups, X.shape[1], getattr(self, "feature_names_in_", None))

    def _number(
        self, inputs: Inputs, kept: Ints, real: bool, sample_weight: Any = None, samples: Samples = ALONE
    ) -> Any:
        """Return ``n_features_to_select``; "auto" is chosen by cross-validation, as AutoSelector does."""
        self.__dict__.pop("number_curve_", None)  # of an earlier fit
        asked = self.n_features_to_select
        if not isinstance(asked, str):
            return asked
        from infused.selectors.choose.auto import chosen_number

        kind: TargetKind = "survival" if inputs.survival else "real" if real else "classes"
        self.number_curve_ = chosen_number(self, inputs, kept, kind, sample_weight, samples)
        return self.number_curve_.chosen

    def _store_ranking(self, variables: Groups, scores: Floats, ranking: Ints, chosen: Any) -> None:
        """Set what all selectors have; scores, ranks and the chosen are by variable, the mask by column."""
        self.scores_, self.ranking_, self.support_ = scores, ranking, chosen[variables.codes]
        if variables.given:
            self.group_names_ = variables.array_of_names()
        elif hasattr(self, "group_names_"):  # of an earlier fit
            del self.group_names_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _site() -> str:
    """Return the address of the documents that the installed package names; empty where it names none."""
    try:
        urls = metadata("infused").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return next((one.partition(", ")[2] for one in urls if one.startswith("Documentation, ")), "")


def how_many(n_features_to_select: Any, variables: Groups, n_kept: int = 0) -> int | None:
    """Resolve a number, a fraction or None to a number of features, or of groups."""
    if n_features_to_select is None:
        return None
    if isinstance(n_features_to_select, Integral):
        k = int(n_features_to_select)
    elif isinstance(n_features_to_select, Real):
        k = max(1, round(float(n_features_to_select) * len(variables)))
    if k > len(variables):
        what = "groups of features" if variables.given else "features of X"
        raise InputError(Setting("n_features_to_select", k), f" is more than the {len(variables)} {what}.")
    if k < n_kept:
        raise InputError(
            Setting("n_features_to_select", k), f" is fewer than the {n_kept} of ", Setting("keep")
        )
    return k


def number_or_half(n_features_to_select: Any, variables: Groups, n_kept: int = 0) -> int:
    """Resolve n_features_to_select; None means half of the features."""
    half = max(1, n_kept, len(variables) // 2)
    return how_many(n_features_to_select, variables, n_kept) or half


def ahead(kept: Ints, scores: Floats, ranking: Ints) -> tuple[Floats, Ints]:
    """Put what is kept before all others in scores and ranks, in the order in which it was given."""
    if not len(kept):
        return scores, ranking
    others = np.setdiff1d(np.argsort(ranking), kept, assume_unique=True)
    order = np.concatenate([kept, others])
    ranking, scores = np.empty_like(ranking), scores.copy()
    ranking[order] = np.arange(1, len(order) + 1)
    scores[kept] = max(scores[others].max(), 0.0) + np.arange(len(kept), 0, -1)
    return scores, ranking


def check_one_target(selector: BaseSelector, y: Any) -> None:
    """Refuse several targets where there is no sense in taking them together."""
    if survival_of(y) is not None:
        return
    shape = y.shape if sp.issparse(y) else np.asarray(y).shape
    if len(shape) > 1 and shape[1] > 1:
        name = type(selector).__name__
        raise InputError(
            f"{name} takes one target, but y has {shape[1]} columns: "
            f"fit one {name} for each, or take a linear selector, such as Lasso."
        )


def survival_of(y: Any) -> Array | None:
    """Read times and events from a target that has names for them; return None for other targets."""
    named = hasattr(y, "columns") or getattr(getattr(y, "dtype", None), "names", None) is not None
    return survival_target(y) if named else None


def checked(selector: BaseSelector, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """Check X and y, and return arrays that can be computed with: the one entrance to every ``fit``.

    ``options`` are those of scikit-learn's ``validate_data``.
    """
    if is_collection(X):
        raise InputError(
            f"X is an array of Dask, and {type(selector).__name__} needs all of it here: give an array, or "
            "take a linear selector, such as Lasso, inside infused.cluster(client)"
        )
    if getattr(getattr(X, "dtype", None), "kind", None) in ("M", "m"):
        raise InputError("X holds dates or times: make numbers of them, such as their years")
    survival = survival_of(y)
    if survival is not None:
        return _with_survival(selector, X, survival, options)
    X, y = sound(X), comparable(sound(y, "y"))
    with np.errstate(over="ignore", invalid="ignore"):  # it looks for NaN in a sum, which may overflow
        X, y = validate_data(selector, X, y, accept_sparse=["csr", "csc"], ensure_min_samples=2, **options)
    y = in_double(y.toarray() if sp.issparse(y) else y, "y")
    check_varied(y)
    return in_double(X, "X"), y


def _with_survival(selector: BaseSelector, X: Any, y: Array, options: dict[str, Any]) -> tuple[Any, Array]:
    """Check X beside times and events, which not every selector takes."""
    if not selector._takes_survival:
        raise InputError(
            f"{type(selector).__name__} does not take times and events: take anova or a linear selector, "
            "such as lasso"
        )
    own = {name: value for name, value in options.items() if name != "multi_output"}
    X = validate_data(selector, sound(X), accept_sparse=["csr", "csc"], ensure_min_samples=2, **own)
    if X.shape[0] != len(y):
        raise InputError(f"X has {X.shape[0]} samples, but y has {len(y)}")
    return in_double(X, "X"), y


def with_targets(selector: BaseSelector, X: Any, y: Any) -> tuple[Any, Any]:
    """Check X and y, where y may have several columns: continuous ones, or an indicator of each label."""
    return checked(selector, X, y, multi_output=True)


def ranks(scores: Floats, tie_breaks: Floats) -> Ints:
    """Rank from 1 for the best: by score, then by the second number, then by position."""
    order = np.lexsort((-tie_breaks, -scores))
    result = np.empty(len(scores), dtype=np.int64)
    result[order] = np.arange(1, len(scores) + 1)
    return result
