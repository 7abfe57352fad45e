"""A selection in sentences: the verdict first, and how scores and columns are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, isnan
from typing import Literal

from infused._runtime.messages import enumerated
from infused.record.schema import (
    HazardRatio,
    SelectedFeature,
    SelectionRecord,
    SelectionStability,
    Shadows,
    SurvivalCurves,
)
from infused.selectors.choose.number import NumberCurve, Relation, p_ahead

MOST_NUMBERS = 12  # that a sentence lists
LEADING = 3  # features that a sentence names
MOST_STABLE = 8

#: Why nothing was selected, by method.
NONE = {
    "": "ask for a number of features, or for less sparsity",
    "stability": "no feature is stable, that is, half-samples do not agree on any",
    "knockoffs": "knockoffs found none at this false discovery rate; more samples or a larger rate may",
}


def title(record: SelectionRecord) -> str:
    """Return the heading of the page."""
    return f"{len(record.selected):,} of {record.data.n_features:,} features of {record.data.name}"


def result_sentences(record: SelectionRecord) -> str:
    """Say what was selected, whether it is redundant, and whether the solver failed."""
    data, k = record.data, len(record.selected)
    purpose = f"for predicting {data.target} ({data.n_samples:,} samples)"
    names = _list([feature.name for feature in record.selected], LEADING)
    if k == 0:
        return f"No feature was selected {purpose}: {NONE.get(record.request.method.id, NONE[''])}."
    if k == 1:
        first = (
            f"One of {data.n_features:,} features was selected {purpose} by {record.method_name}: {names}."
        )
    else:
        whole = f"Top {k:,} of {data.n_features:,} features {purpose}"
        first = f"{whole}, ranked by {record.method_name}: {names}."
    sentences = [first, *_redundancy(record)]
    if record.convergence is not None and record.convergence.converged is False:
        sentences.append("The solver did not converge: treat the order with care.")
    return " ".join(sentences)


def _redundancy(record: SelectionRecord) -> list[str]:
    if record.redundancy is None:
        return []
    limit = f"|r| >= {record.redundancy.threshold:g}"
    shared = shared_groups(record)
    if not shared:
        return [f"No two selected features are strongly correlated ({limit})."]
    redundant = sum(len(features) for features in shared.values())
    groups = "one group" if len(shared) == 1 else f"{len(shared):,} groups"
    return [f"{redundant:,} of them form {groups} of strongly correlated features ({limit})."]


def _list(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def number_sentences(record: SelectionRecord) -> str:
    """Say how the number of features was chosen; empty where it was given."""
    curve, budget = record.number, record.budget
    if budget is not None:
        return (
            f"Within the budget: they cost {budget.total:g} of at most {budget.limit:g} and have the best "
            f"{measure(budget.scoring).words} of {len(budget.ks):,} budgets up to it."
        )
    if curve is None:
        return "Chosen by the method." if record.request.k is None else ""
    tried = f"Tried: {_tried(curve.ks)}."
    if record.selected and not predicts(record):
        return f"None predicts clearly better than chance. {tried}"
    place = curve.ks.index(curve.best)
    name = measure(curve.scoring)
    best = f"{score_text(curve.means[place], curve.errors[place], curve.scoring)}{name.unit}"
    if curve.chosen == curve.best:
        return (
            f"{curve.chosen:,} has the best {name.words}, {best}; no smaller number comes within one "
            f"standard error. {tried}"
        )
    return (
        f"{curve.chosen:,} is the smallest number within one standard error of the best {name.words}, "
        f"{best} with {curve.best:,}. {tried}"
    )


def _tried(ks: tuple[int, ...]) -> str:
    """List numbers as a sentence has them; of many, the first and the last.

    >>> _tried((1, 2, 3)), _tried(tuple(range(1, 31)))
    ('1, 2 and 3', '1, 2, 3, 4, 5, 6, ... and 30 (30 numbers)')
    """
    shown = [f"{k:,}" for k in ks]
    if len(ks) > MOST_NUMBERS:
        return f"{', '.join(shown[:6])}, ... and {shown[-1]} ({len(ks)} numbers)"
    return enumerated(shown, MOST_NUMBERS)


MODELS = {"linear": "a linear model", "boosted-trees": "boosted trees"}
_CHOSEN_THERE = "; the number was chosen on the same folds, which flatters the score"
CLEARLY = 2.0  # standard errors


def score_curve(record: SelectionRecord) -> NumberCurve | None:
    """Return the cross-validated scores of the selection; None where they were not computed."""
    return record.number if record.number is not None else record.score


def predicts(record: SelectionRecord) -> bool:
    """Return whether the selected features predict better than chance, at the level of 5%.

    The one-sided test of Nadeau and Bengio (2003) allows for training parts that overlap, and Bonferroni's
    correction for the numbers of features and the models that were tried. Where single features predict, or
    boosted trees clearly better than a linear model, any score above chance is enough.
    """
    curve = score_curve(record)
    if curve is None:
        return False
    place = curve.ks.index(curve.chosen)
    gain, error = curve.means[place] - curve.chance, curve.errors[place]
    known = record.data.chance is not None and not _noise(record)
    if gain <= 0 or known or (not_linear(record) and not _missed(record)):
        return gain > 0
    p = p_ahead(gain, error, curve.n_folds)
    return len(MODELS) * len(curve.ks) * p <= SURPRISING


def score_sentences(record: SelectionRecord) -> str:
    """Say whether the selected features predict the target; empty where that was not computed."""
    curve = score_curve(record)
    if curve is None:
        return ""
    name, unit, place = curve.scoring, measure(curve.scoring).unit, curve.ks.index(curve.chosen)
    one = curve.chosen == 1
    features = "The selected feature" if one else f"The {curve.chosen:,} selected features"
    if predicts(record):
        verb = f"predict{'s' if one else ''} {record.data.target}"
    else:
        verb = f"{'does' if one else 'do'} not predict {record.data.target} better than chance"
    others = [f"the {chance_words(record)} {score_number(curve.chance, name)}{unit}"]
    if curve.all_features is not None and curve.chosen < record.data.n_features:
        whole = f"all {record.data.n_features:,} features"
        others.insert(0, f"{whole} {score_number(curve.all_features, name)}{unit}")
    score = f"{score_text(curve.means[place], curve.errors[place], name)}{unit}"
    several = len(curve.ks) > 1 or record.budget is not None
    model = MODELS.get(curve.model, curve.model) if record.data.events is None else "Cox's regression"
    return (
        f"{features} {verb}: {measure(name).words} {score} ({', '.join(others)}). "
        f"Measured with {model} in {curve.n_folds}-fold cross-validation, "
        f"selecting inside the folds{_CHOSEN_THERE if several else ''}."
    )


SURE = 0.01  # p below which a relation is called not linear: nobody asked for this test
MOST, SOME = 0.5, 0.1  # share of what boosted trees explain
SEES_ANY = ("auto", "boosted-trees", "hsic-lasso")  # methods, the one that most often finds it first


def not_linear(record: SelectionRecord) -> Relation | None:
    """Return the scores of both models where boosted trees predict clearly better; else None."""
    curve = score_curve(record)
    found = None if curve is None else curve.relation
    if curve is None or found is None or found.p_value > SURE:
        return None
    gain = found.best_trees - max(found.best_linear, curve.chance)
    return found if gain > SOME * (found.best_trees - curve.chance) else None


def _missed(record: SelectionRecord) -> bool:
    """Return whether the relation is not linear and the selected features have too little of it."""
    curve, found = score_curve(record), not_linear(record)
    if curve is None or found is None or found.boosted_trees_all is None:
        return False
    missed = found.boosted_trees_all - max(found.boosted_trees, curve.chance)
    least = SOME if found.p_missed <= SURPRISING else MOST
    return missed > least * (found.boosted_trees_all - curve.chance)


def relation_sentences(record: SelectionRecord) -> str:
    """Say that the relation is not linear, and whether the selection misses it; else return nothing."""
    curve, found = score_curve(record), not_linear(record)
    if curve is None or found is None:
        return ""
    most = found.best_linear - curve.chance < MOST * (found.best_trees - curve.chance)
    how, unit = measure(curve.scoring), measure(curve.scoring).unit
    scores = [f"{score_number(one, curve.scoring)}{unit}" for one in (found.best_linear, found.best_trees)]
    what = (
        f"{'most' if most else 'part'} of the relation is not linear: {how.words} {scores[0]} with "
        f"a linear model, {scores[1]} with boosted trees"
    )
    if not _missed(record):
        return capital(f"{what}. Predict with a model that is not linear.")
    first, *others = (name for name in SEES_ANY if name != record.request.method.id)
    further = f"{', ' if len(others) > 1 else ' or '}{' or '.join(others)}"
    reached = f"{score_number(found.boosted_trees, curve.scoring)}{unit}"
    return capital(
        f"{what} on all features, but {reached} on the selected ones. "
        f"Try --method {first} (method={first!r}){further}."
    )


def chance_words(record: SelectionRecord) -> str:
    """Say what predicts without features."""
    if record.data.events is not None:
        return "null model"
    return "majority class" if record.data.classes is not None else "mean of the target"


Severity = Literal["warning", "caution", "good", "plain"]


@dataclass(frozen=True)
class Sentence:
    """One line of the verdict: a question in a word, its answer, and how grave it is."""

    label: str
    text: str
    severity: Severity = "plain"

    def __str__(self) -> str:
        return f"{self.label}: {self.text}"


FEW_SAMPLES = 50
BLIND = "no single feature predicts"
GRAVE = ("possible leakage", BLIND)  # how warnings begin that call the whole result into question
RELATED = "rows look related"
EXACTLY = 0.9995  # an R² that is shown as 1.000


def verdict(record: SelectionRecord) -> list[Sentence]:
    """Return the answer as page, notebook and terminal show it, warnings first."""
    answers = (_warnings, _result, _blocks, _prediction, _stability, _effects, _next)
    return [sentence for answer in answers for sentence in answer(record)]


def warned(warnings: Iterable[str]) -> list[Sentence]:
    """Make sentences of what may make a result misleading, the gravest first."""
    ordered = sorted(warnings, key=lambda words: not words.startswith(GRAVE))
    return [
        Sentence("Warning", f"{capital(words)}.", "warning" if words.startswith(GRAVE) else "caution")
        for words in ordered
    ]


def gravity(sentences: Sequence[Sentence]) -> Severity:
    """Return how grave the gravest of some sentences is."""
    found = {one.severity for one in sentences}
    for severity in ("warning", "caution", "good"):
        if severity in found:
            return severity
    return "plain"


def _noise(record: SelectionRecord) -> bool:
    return record.data.chance is not None and record.data.chance > SURPRISING


def _exact(record: SelectionRecord) -> bool:
    """Return whether the selected features give a continuous target to the last digit, as its parts do."""
    curve = score_curve(record)
    return (
        curve is not None
        and curve.scoring == "r2"
        and curve.means[curve.ks.index(curve.chosen)] >= EXACTLY
        and not record.data.leaks
    )


def _related(record: SelectionRecord) -> bool:
    return any(words.startswith(RELATED) for words in record.data.warnings)


def _warnings(record: SelectionRecord) -> Iterator[Sentence]:
    """Yield what may make the result misleading, the gravest first."""
    if _exact(record):
        yield Sentence(
            "Warning",
            f"Possible leakage: the selected features together predict {record.data.target} exactly, as if "
            "it were computed from them. If they are known only afterwards, leave them out with --drop.",
            "warning",
        )
    if _missed(record):
        yield Sentence("Warning", relation_sentences(record), "warning")
    # Features together can predict where none does alone.
    seen = predicts(record) or not_linear(record) is not None
    yield from warned(words for words in record.data.warnings if not (words.startswith(BLIND) and seen))
    if record.data.n_samples < FEW_SAMPLES:
        yield Sentence(
            "Warning",
            f"Only {record.data.n_samples:,} samples: scores are uncertain, and other samples may lead to "
            "other features.",
            "caution",
        )


def _result(record: SelectionRecord) -> Iterator[Sentence]:
    yield Sentence("Result", result_sentences(record))
    if words := number_sentences(record):
        yield Sentence("Number of features", words)


def _prediction(record: SelectionRecord) -> Iterator[Sentence]:
    if words := score_sentences(record):
        fine: Severity = "plain" if record.data.leaks or _exact(record) or _related(record) else "good"
        yield Sentence("Prediction", words, fine if predicts(record) else "warning")
        if (words := relation_sentences(record)) and not _missed(record):
            yield Sentence("Relation", words)
    elif record.selected:
        yield Sentence("Prediction", "Not measured. For a cross-validated score, use --folds 5 (folds=5).")


def _stability(record: SelectionRecord) -> Iterator[Sentence]:
    if words := stability_sentences(record):
        yield Sentence("Stability", words, "good" if _agreed(record) else "caution")
    elif record.selected and record.stability is None and record.shadows is None:
        yield Sentence(
            "Stability", "Not measured. To select in half-samples, use --stability 50 (stability=50)."
        )


def block_sentence(record: SelectionRecord) -> str:
    """Say how many features of each block were selected, and what is lost without them."""
    parts = []
    for one in record.blocks:
        size = f"{one.n_selected:,} of {one.n_features:,}"
        penalty = (
            "" if one.factor is None else ", no penalty" if one.factor == 0 else f", penalty x{one.factor:g}"
        )
        without = "" if one.unique is None else f", {one.unique:.1%} of the variance lost without it"
        parts.append(f"{one.name} {size} features{penalty}{without}")
    return f"{'; '.join(parts)}." if parts else ""


def _blocks(record: SelectionRecord) -> Iterator[Sentence]:
    if words := block_sentence(record):
        yield Sentence("Blocks", words)


def _effects(record: SelectionRecord) -> Iterator[Sentence]:
    if words := effect_sentence(record):
        yield Sentence("Effects", words, "caution" if words.startswith("No ") else "good")


def _agreed(record: SelectionRecord) -> bool:
    """Return whether at least one feature is stable, and more than chance explains."""
    found = record.stability
    return found is not None and found.n_stable > 0 and found.expected_false < found.n_stable


def _next(record: SelectionRecord) -> Iterator[Sentence]:
    """Yield the one thing to do."""
    if not record.selected:
        return
    curve = score_curve(record)
    if record.data.leaks or _exact(record):
        words = (
            "Find out when these values were recorded, and select again without those known only afterwards."
        )
    elif _related(record):
        words = "Find out whether rows belong together, and select again with --sample-groups if they do."
    elif _missed(record):
        words = "Select again with a method that sees relations of any form, as proposed above."
    elif not predicts(record) and (curve is not None or _noise(record)):
        words = "Do not rely on these features. Collect more samples, or measure other features."
    elif curve is not None and curve.all_features is not None and _worse(curve):
        words = "All features predict better: select more of them, or let -k auto choose (k='auto')."
        if record.budget is not None:
            words = "All features predict better: see in the curve of score against cost if more is worth it."
    elif record.stability is not None and not _agreed(record):
        words = (
            "Treat the list as one of several possible ones; fewer features or more samples make it stable."
        )
    else:
        words = "Check these features on samples that had no part in the selection, before you rely on them."
    yield Sentence("Next", words)


def _worse(curve: NumberCurve) -> bool:
    """Return whether all features score clearly better than the selected ones."""
    place = curve.ks.index(curve.chosen)
    error = 0.0 if isnan(curve.errors[place]) else curve.errors[place]
    return curve.all_features is not None and curve.all_features - CLEARLY * error > curve.means[place]


#: What the columns of the table are called, in the terminal, in a notebook and on the page.
COLUMNS = {
    "block": "Block",
    "direction": "Direction",
    "alone": "Explains alone",
    "unique": "Adds to the others",
    "frequency": "Selection frequency",
    "effect": "Effect and interval",
    "p_value": "Adjusted p",
    "hazard": "Hazard ratio",
    "cost": "Cost",
    "group": "Redundancy group",
}


def column_meanings(record: SelectionRecord) -> dict[str, str]:
    """Return in words what each column of the table means, by its key in :data:`COLUMNS`."""
    share = "adjusted R²" if record.data.classes is None else "McFadden's R², beyond chance"
    if record.data.events is not None:
        share += " of its martingale residuals"
    if record.transform != "none":
        share += f"; values transformed by {record.transform}"
    target = record.data.target if record.data.classes is None else "the class"
    goal = record.data.target
    higher = f"{goal} is higher" if record.data.classes is None else f"a class of {goal} is more frequent"
    higher = "the risk is higher" if record.data.events is not None else higher
    meanings = {
        "direction": f"for which values {higher}; empty where not clear",
        "alone": f"what the feature explains of {record.data.target} by itself ({share})",
        "unique": f"share of the variance of {target} that is lost without the feature",
    }
    if record.selected and not any(one.direction for one in record.selected):
        del meanings["direction"]
    if record.blocks:
        meanings = {"block": "the kind of the feature", **meanings}
    if record.stability is not None:
        meanings["frequency"] = "share of half-samples in which the feature was selected"
    if record.intervals is not None:
        meanings["effect"] = intervals_meaning(record)
        meanings["p_value"] = f"of no effect, adjusted for all {record.data.n_features:,} features"
    if record.data.events is not None:
        meanings["hazard"] = "factor of the risk for one standard deviation more, or for one of two levels"
    if record.request.costs is not None:
        meanings["cost"] = "what the feature costs"
    if record.redundancy is not None and shared_groups(record):
        meanings["group"] = f"features of one group are redundant (|r| >= {record.redundancy.threshold:g})"
    return meanings


SCALES = {
    "logistic": "the log-odds",
    "poisson": "the logarithm of the mean",
    "cox": "the logarithm of the risk",
}


def intervals_meaning(record: SelectionRecord) -> str:
    """Say what an interval means; empty where effects were not estimated."""
    how = record.intervals
    if how is None:
        return ""
    target = record.data.target
    of = f"{SCALES[how.loss]} of {target}" if how.loss in SCALES else target
    return (
        f"what one unit more of the feature adds to {of}, given the other features. The {how.level:.0%} "
        "interval allows for the selection, as long as half-samples select all features that matter"
    )


def effect_text(one: SelectedFeature) -> str:
    """Write an effect with its interval."""
    found = one.effect
    if found is None or found.effect is None:
        return ""
    if found.low is None or found.high is None:
        return f"{found.effect:.3g} (too seldom selected)"
    return f"{found.effect:.3g} ({found.low:.3g} to {found.high:.3g})"


def p_value_text(one: SelectedFeature) -> str:
    """Write an adjusted p-value with two digits."""
    if one.effect is None:
        return ""
    return "<0.001" if one.effect.p_value < 0.001 else f"{one.effect.p_value:.2g}"


#: Texts of columns that few selections have.
OTHER_CELLS: dict[str, Callable[[SelectedFeature], str]] = {
    "block": lambda one: one.block,
    "effect": effect_text,
    "p_value": p_value_text,
    "hazard": lambda one: "" if one.hazard is None else f"{one.hazard.ratio:.2f}",
    "cost": lambda one: f"{one.cost or 0:g}",
}


def effect_sentence(record: SelectionRecord) -> str:
    """Say which selected features have an effect that allows for the selection; empty where not estimated."""
    how = record.intervals
    if how is None or not record.selected:
        return ""
    clear = [one for one in record.selected if one.effect and one.effect.p_value <= 1 - how.level + SLACK]
    which = f"adjusted p of at most {1 - how.level:.2g}, {how.n_splits} splits into half-samples"
    if not clear:
        return f"No selected feature has an effect that is certain to be more than the selection ({which})."
    names = _list([one.name for one in clear], MOST_STABLE)
    have = "has" if len(clear) == 1 else "have"
    number = capital(_of(len(clear), len(record.selected)))
    return f"{number} {have} an effect that allows for the selection ({which}): {names}."


def hazard_words(hazard: HazardRatio | None) -> str:
    """Say how events depend on a feature; empty where that was not computed."""
    if hazard is None:
        return ""
    unit = "per standard deviation" if hazard.unit == "standard deviation" else f"of {hazard.unit}"
    words = f"Hazard ratio {hazard.ratio:.2f} ({hazard.low:.2f} to {hazard.high:.2f}) {unit}"
    if hazard.low <= 1 <= hazard.high:
        return f"{words}: no clear direction"
    values = "higher values" if hazard.unit == "standard deviation" else hazard.unit.partition(" against ")[0]
    return f"{words}: {values}, {'earlier' if hazard.ratio > 1 else 'later'} events"


def log_rank_words(curves: SurvivalCurves) -> str:
    """Give the p-value of the log-rank test; empty where there is none."""
    if curves.p_value is None:
        return ""
    return "log-rank p < 0.0001" if curves.p_value < 1e-4 else f"log-rank p = {curves.p_value:.2g}"


def shared_groups(record: SelectionRecord) -> dict[int, list[SelectedFeature]]:
    """Return the redundancy groups with more than one feature, the best first."""
    groups: dict[int, list[SelectedFeature]] = {}
    for feature in record.selected:
        if feature.group is not None:
            groups.setdefault(feature.group, []).append(feature)
    return {number: features for number, features in groups.items() if len(features) > 1}


@dataclass(frozen=True)
class Measure:
    """How a score is shown."""

    words: str
    """What it is called after "the mean"."""
    factor: float = 1.0
    """By what it is multiplied to be shown; an error, which is stored negated, by a negative number."""
    unit: str = ""
    format: str = ".3f"
    error_format: str = ""
    """Of standard errors, where it is another."""


def _percentage(words: str) -> Measure:
    return Measure(words, 100.0, "%", ".1f")


MEASURES = {
    "accuracy": _percentage("accuracy"),
    "balanced_accuracy": _percentage("balanced accuracy"),
    "roc_auc": Measure("ROC AUC"),
    "average_precision": Measure("average precision"),
    "f1": _percentage("macro F1"),
    "r2": Measure("R²"),
    "mae": Measure("absolute error", -1.0, "", ".4g", ".2g"),
    "concordance": Measure("concordance"),
    "uno_concordance": Measure("Uno's concordance"),
    "integrated_brier": Measure("integrated Brier score", -1.0),
}


def measure(name: str) -> Measure:
    """Return how a score is shown; of scikit-learn's scorers those that begin with "neg" are errors.

    >>> measure("neg_root_mean_squared_error").words
    'root mean squared error'
    """
    if name in MEASURES:
        return MEASURES[name]
    if name.startswith("neg_"):
        return Measure(name.removeprefix("neg_").replace("_", " "), -1.0, "", ".4g", ".2g")
    return Measure(name.replace("_", " "))


def unit(name: str) -> tuple[float, str]:
    """Return the factor by which a score is multiplied to be shown, and its unit."""
    how = measure(name)
    return how.factor, how.unit


def shown(value: float, name: str) -> float:
    """Return a score in the unit in which people know it."""
    return measure(name).factor * value + 0.0  # no zero with a minus sign


def score_number(value: float, name: str) -> str:
    """Format a score without its unit: one decimal of a percentage, three of an R².

    >>> score_number(0.954, "accuracy"), score_number(0.5, "r2"), score_number(-1234.56, "mae")
    ('95.4', '0.500', '1235')
    """
    text = f"{shown(value, name):{measure(name).format}}"
    return text.removeprefix("-") if float(text) == 0 else text


def error_text(error: float, name: str) -> str:
    """Format a standard error, which has no direction."""
    how = measure(name)
    return f"{abs(how.factor * error):{how.error_format or how.format}}"


def score_text(mean: float, error: float, name: str) -> str:
    """Format a mean with its standard error, where there is one.

    >>> score_text(0.954, 0.012, "accuracy")
    '95.4 ± 1.2'
    """
    text = score_number(mean, name)
    return text if isnan(error) else f"{text} ± {error_text(error, name)}"


def short_number(value: float) -> str:
    """Write three digits, and all digits of whole thousands.

    >>> short_number(0.01234), short_number(1212.4), short_number(3e9)
    ('0.0123', '1,212', '3e+09')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def p_words(p: float) -> str:
    """Write a p-value; what is too small for a float is no zero.

    >>> p_words(0.0312), p_words(0.0)
    ('p = 0.031', 'p < 1e-300')
    """
    return f"p = {p:.2g}" if p >= 1e-300 else "p < 1e-300"


def signed(value: float, name: str) -> str:
    """Format a difference of scores with its sign."""
    text = score_number(value, name)
    return text if text.startswith("-") else f"+{text}"


SURPRISING = 0.05  # p below which chance is no explanation
SLACK = 1e-9  # a frequency of 75 in 100 reaches a threshold of 0.75
PERMUTED = "randomly permuted features"
HALF = 0.5  # of the trials, in which a feature has to be ahead of all of them


def stability_sentences(record: SelectionRecord) -> str:
    """Say whether the features are stable and better than chance; empty where that was not computed."""
    found, shadows = record.stability, record.shadows
    # What the request keeps is selected in any case.
    kept = record.request.method.parameters.get("keep")
    selected = [one for one in record.selected if not (isinstance(kept, list) and one.name in kept)]
    if record.selected and not selected:
        return ""
    if found is None:
        return "" if shadows is None else _compared(shadows, selected)
    ahead = sum(one.wins == 1.0 for one in selected)
    better = shadows is not None and _clearly_better(ahead, shadows)
    if found.n_stable == 0:
        first = f"No feature is stable: none was selected in {_often(found)}."
        if better and shadows is not None:
            return f"{first} {_yet_better(shadows, ahead, any(one.stand_ins for one in selected))}"
    elif found.expected_false >= found.n_stable:
        stable = "the one that is" if found.n_stable == 1 else f"all {found.n_stable:,} that are"
        first = (
            f"Inconclusive: a half-sample selects {found.per_half:.0f} of only "
            f"{len(found.frequencies):,} features, so that chance alone could explain {stable} stable. "
            "Try a smaller k."
        )
    else:
        first, better = _stable(found, selected, record), True
    if better:
        return first if shadows is None else f"{first} {_compared(shadows, selected)}"
    if record.data.leaks:  # which is what to look at
        return first
    fails = score_curve(record) is not None and not predicts(record)
    if record.data.chance is not None and record.data.chance <= SURPRISING and not fails:
        return (
            f"{first} Yet features predict {record.data.target} better than chance: other samples could have "
            "led to other features in their place."
        )
    return f"{first} The selection may be chance{_doubt(shadows, selected)}"


def _stable(found: SelectionStability, selected: Sequence[SelectedFeature], record: SelectionRecord) -> str:
    names = [one.name for one in selected if found.frequencies[one.index] >= found.threshold - SLACK]
    expected = "fewer than 0.1" if found.expected_false < 0.1 else f"at most {found.expected_false:.1f}"
    be = "is" if 1 in (len(names), len(selected)) else "are"
    every = "the one stable feature" if found.n_stable == 1 else f"all {found.n_stable:,} stable features"
    among = "" if found.n_stable == len(names) else f" among {every}"
    chosen = {one.index for one in record.selected}
    others = [
        record.features.names[n]
        for n in sorted(range(len(found.frequencies)), key=lambda n: -found.frequencies[n])
        if found.frequencies[n] >= found.threshold - SLACK and n not in chosen
    ]
    also = f" Also stable, but not selected: {_list(others, MOST_STABLE)}." if others else ""
    return (
        f"{capital(_of(len(names), len(selected)))} {be} stable (selected in {_often(found)})"
        f"{': ' if names else ''}{_list(names, MOST_STABLE)}.{also} "
        f"Expected false selections{among}: {expected}."
    )


def _yet_better(shadows: Shadows, ahead: int, replaceable: bool) -> str:
    """Say that features are better than chance although none is stable."""
    which = f"all {ahead:,}" if ahead == shadows.n_compared else f"{ahead:,} of {shadows.n_compared:,}"
    return (
        f"Yet the selected features are better than chance: {which} were ahead of all {PERMUTED} in each of "
        f"{shadows.n_repeats} trials. Other samples could have led to other features in their place"
        f"{'; the page lists some that could replace them' if replaceable else ''}."
    )


def _doubt(shadows: Shadows | None, selected: Sequence[SelectedFeature]) -> str:
    """Return the end of a sentence of doubt: how the features compare with permuted ones."""
    if shadows is None:
        return "."
    if shadows.n_beaten:
        return f". {_compared(shadows, selected)}"
    return f": {_all_better(shadows)}, but by chance {_by_chance(shadows)} would, too."


def _compared(shadows: Shadows, selected: Sequence[SelectedFeature]) -> str:
    """Say how the selected features compare with permuted ones, and name those that do no better."""
    if shadows.n_beaten:
        which, do = _of(shadows.n_beaten, shadows.n_compared), "does" if shadows.n_beaten == 1 else "do"
        names = [one.name for one in selected if one.wins is not None and one.wins <= HALF]
        named = f": {', '.join(names)}" if len(names) <= min(MOST_STABLE, shadows.n_compared - 1) else ""
        return f"{capital(which)} {do} no better than {PERMUTED}{named}."
    # With fewer shadows than features, it takes less to be ahead of them.
    more = f" (by chance, {_by_chance(shadows)} would)" if shadows.by_chance >= 2 else ""
    return f"{capital(_all_better(shadows))}{more}."


def _all_better(shadows: Shadows) -> str:
    if shadows.n_compared == 1:
        return f"the selected feature outperforms {PERMUTED}"
    return f"{'both' if shadows.n_compared == 2 else f'all {shadows.n_compared:,}'} outperform {PERMUTED}"


def _clearly_better(ahead: int, shadows: Shadows) -> bool:
    """Return whether more features were ahead of all shadows in all repeats than would be by chance.

    With R repeats of S shadows, N / (R S + 1) of N irrelevant features are. Correlated features win together,
    so that it takes half of the selected ones, and two more than twice that number.
    """
    by_chance = _n_compared(shadows) / (shadows.n_repeats * shadows.n_shadows + 1)
    return ahead >= max(shadows.n_compared / 2, 2 * by_chance + 2)


def _n_compared(shadows: Shadows) -> int:
    """Return the number of features that were compared with the shadows, selected or not."""
    return round(shadows.by_chance * (shadows.n_shadows + 1))


def _by_chance(shadows: Shadows) -> str:
    n = max(round(shadows.by_chance), 1)
    return f"about {'one' if n == 1 else f'{n:,}'} of the {_n_compared(shadows):,} features"


def _often(found: SelectionStability) -> str:
    n_halves = 2 * found.n_pairs
    return f"at least {ceil(n_halves * found.threshold - SLACK):,} of {n_halves:,} half-samples"


def _of(n: int, k: int) -> str:
    if k == 1:
        return "the selected feature" if n else "no selected feature"
    whole = f"the {k:,} selected features"
    return f"all {k:,} selected features" if n == k else f"{n:,} of {whole}" if n else f"none of {whole}"


def capital(words: str) -> str:
    """Write the first letter as a capital."""
    return f"{words[0].upper()}{words[1:]}"
