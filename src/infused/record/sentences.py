"""A selection in sentences: what was selected, how the number was chosen, and how stable it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isnan

from infused.record.schema import SelectedFeature, SelectionRecord, SelectionStability, Shadows

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
    curve = record.number
    if curve is None:
        return "The method chose the number of features." if record.request.k is None else ""
    at = dict(zip(curve.ks, zip(curve.means, curve.errors, strict=True), strict=True))
    name, unit = curve.scoring, measure(curve.scoring).unit
    best = f"{score_text(*at[curve.best], name)}{unit}"
    others = [f"{_reference(record)} alone reaches {score_number(curve.chance, name)}{unit}"]
    if curve.all_features is not None:
        whole = f"all {record.data.n_features:,} features"
        others.insert(0, f"{whole} reach {score_number(curve.all_features, name)}{unit}")
    rule = (
        f"it has the best {measure(name).words}, {best}, and no smaller one comes within one standard error"
        if curve.chosen == curve.best
        else f"the smallest within one standard error of the best {measure(name).words}, {best} with "
        f"{curve.best:,}; it reaches {score_number(at[curve.chosen][0], name)}{unit}"
    )
    return (
        f"The number of features, {curve.chosen:,}, was chosen by {curve.n_folds}-fold cross-validation "
        f"among {_tried(curve.ks)}: {rule}. For comparison: {', '.join(others)}."
    )


def _tried(ks: tuple[int, ...]) -> str:
    """List numbers as a sentence has them; of many, the first and the last.

    >>> _tried((1, 2, 3)), _tried(tuple(range(1, 31)))
    ('1, 2 and 3', '1, 2, 3, 4, 5, 6, ... and 30 (30 numbers)')
    """
    shown = [f"{k:,}" for k in ks]
    if len(ks) > MOST_NUMBERS:
        return f"{', '.join(shown[:6])}, ... and {shown[-1]} ({len(ks)} numbers)"
    *others, last = shown
    return f"{', '.join(others)} and {last}" if others else last


def score_sentences(record: SelectionRecord) -> str:
    """Say what a model with the selected features reaches; empty where that was not computed."""
    curve = record.score
    if curve is None:
        return ""
    name, unit = curve.scoring, measure(curve.scoring).unit
    score = f"{score_text(curve.means[0], curve.errors[0], name)}{unit}"
    others = [f"{_reference(record)} {score_number(curve.chance, name)}{unit}"]
    if curve.all_features is not None:
        whole = f"all {record.data.n_features:,} features"
        others.insert(0, f"{whole} {score_number(curve.all_features, name)}{unit}")
    features = "the selected feature" if curve.chosen == 1 else f"the {curve.chosen:,} selected features"
    return (
        f"{_capital(measure(name).words)} of a linear model with {features}: {score} ({', '.join(others)}). "
        f"This is {curve.n_folds}-fold cross-validation with the selection inside the folds."
    )


def _reference(record: SelectionRecord) -> str:
    return "the majority class" if record.data.classes is not None else "the mean"


def answer_sentences(record: SelectionRecord) -> list[str]:
    """Say what was selected, how the number was chosen, what it scores and whether it is stable."""
    said = (result_sentences, number_sentences, score_sentences, stability_sentences)
    return [words for sentences in said if (words := sentences(record))]


def warning_sentences(record: SelectionRecord) -> list[str]:
    """Return what may make the result misleading, the gravest first."""
    return [f"{_capital(words)}." for words in record.data.warnings]


def alone_words(record: SelectionRecord) -> str:
    """Say what the figure "explains alone" of the record is."""
    share = "adjusted R²" if record.data.classes is None else "McFadden's R² beyond chance"
    return f"what the feature explains of {record.data.target} by itself ({share})"


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


def signed(value: float, name: str) -> str:
    """Format a difference of scores with its sign."""
    text = score_number(value, name)
    return text if text.startswith("-") else f"+{text}"


SURPRISING = 0.05  # p below which chance is no explanation
SLACK = 1e-9  # a frequency of 75 in 100 reaches a threshold of 0.75
PERMUTED = "randomly permuted features"


def stability_sentences(record: SelectionRecord) -> str:
    """Say whether the features are stable and better than chance; empty where that was not computed."""
    found, shadows = record.stability, record.shadows
    # What the request keeps is selected in any case.
    kept = record.request.method.parameters.get("keep")
    selected = [one for one in record.selected if not (isinstance(kept, list) and one.name in kept)]
    if record.selected and not selected:
        return ""
    if found is None:
        return "" if shadows is None else _compared(shadows)
    ahead = sum(one.wins == 1.0 for one in selected)
    better = shadows is not None and _clearly_better(ahead, shadows)
    if found.n_stable == 0:
        first = f"No feature is stable: none was selected in {_often(found)}."
        if better and shadows is not None:
            return f"{first} {_yet_better(shadows, ahead, any(one.stand_ins for one in selected))}"
    elif found.expected_false >= found.n_stable:
        first = (
            f"Stability is inconclusive: a half-sample selects {found.per_half:.0f} of only "
            f"{len(found.frequencies):,} features, so that chance alone could explain all "
            f"{found.n_stable:,} that are stable. Try a smaller k."
        )
    else:
        first, better = _stable(found, selected), True
    if better:
        return first if shadows is None else f"{first} {_compared(shadows)}"
    if record.data.leaks:  # which is what to look at
        return first
    if record.data.chance is not None and record.data.chance <= SURPRISING:
        return (
            f"{first} Yet features predict {record.data.target} better than chance: other samples could have "
            "led to other features in their place."
        )
    return f"{first} The selection may be chance{_doubt(shadows)}"


def _stable(found: SelectionStability, selected: Sequence[SelectedFeature]) -> str:
    names = [one.name for one in selected if found.frequencies[one.index] >= found.threshold - SLACK]
    expected = "fewer than 0.1" if found.expected_false < 0.1 else f"at most {found.expected_false:.1f}"
    be = "is" if 1 in (len(names), len(selected)) else "are"
    among = "" if found.n_stable == len(names) else f" among all {found.n_stable:,} stable features"
    return (
        f"{_capital(_of(len(names), len(selected)))} {be} stable (selected in {_often(found)})"
        f"{': ' if names else ''}{_list(names, MOST_STABLE)}. Expected false selections{among}: {expected}."
    )


def _yet_better(shadows: Shadows, ahead: int, replaceable: bool) -> str:
    """Say that features are better than chance although none is stable."""
    which = f"all {ahead:,}" if ahead == shadows.n_compared else f"{ahead:,} of {shadows.n_compared:,}"
    return (
        f"Yet the selected features are better than chance: {which} were ahead of all {PERMUTED} in each of "
        f"{shadows.n_repeats} trials. Other samples could have led to other features in their place"
        f"{'; the page lists some that could replace them' if replaceable else ''}."
    )


def _doubt(shadows: Shadows | None) -> str:
    """Return the end of a sentence of doubt: how the features compare with permuted ones."""
    if shadows is None:
        return "."
    if shadows.n_beaten:
        return f". {_compared(shadows)}"
    return f": {_all_better(shadows)}, but by chance {_by_chance(shadows)} would, too."


def _compared(shadows: Shadows) -> str:
    """Say how the selected features compare with permuted ones."""
    if shadows.n_beaten:
        which, do = _of(shadows.n_beaten, shadows.n_compared), "does" if shadows.n_beaten == 1 else "do"
        return f"{_capital(which)} {do} no better than {PERMUTED}."
    # With fewer shadows than features, it takes less to be ahead of them.
    more = f" (by chance, {_by_chance(shadows)} would)" if shadows.by_chance >= 2 else ""
    return f"{_capital(_all_better(shadows))}{more}."


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


def _capital(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"
