"""A selection in words: what was asked, and what came out."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isnan

from infused.record.schema import SelectedFeature, SelectionRecord
from infused.record.trust import Shadows, Stability

MOST_NUMBERS = 12  # that a sentence lists

#: Why nothing was selected, by method.
NONE = {
    "": "ask for a number of features, or for less sparsity",
    "stability": "nothing is stable, so halves of these samples do not agree on any feature",
    "knockoffs": "at this false discovery rate, no feature can be told from chance",
}


def title(record: SelectionRecord) -> str:
    """What the page is about, in one line."""
    return f"{len(record.selected):,} of {record.data.n_features:,} features of {record.data.name}"


def asked(record: SelectionRecord) -> str:
    """What was asked, in one sentence."""
    data, wanted = record.data, record.request.k
    if isinstance(wanted, int):
        best = "the best" if wanted == 1 else f"the {wanted:,} best"
    elif isinstance(wanted, float):
        best = f"the best {100 * wanted:g}%"
    elif wanted == "auto":
        best = "as few as predict well"
    else:
        best = "the best, as many as it finds,"
    purpose = (
        f"to predict {data.target}"
        if data.classes is None
        else f"to tell the {len(data.classes):,} classes of {data.target} apart"
    )
    return (
        f"{record.method_name} was asked for {best} of the {data.n_features:,} features of {data.name}, "
        f"measured on {data.n_samples:,} samples, {purpose}."
    )


def came_out(record: SelectionRecord) -> str:
    """What came out, in one sentence."""
    k = len(record.selected)
    if k == 0:
        return f"It selected none: {NONE.get(record.request.method.id, NONE[''])}."
    *others, last = (feature.name for feature in record.selected[:3])
    leaders = f"{', '.join(others)} and {last}" if others else last
    first = f"It selected {'one' if k == 1 else f'{k:,}'}, {'namely' if k <= 3 else 'led by'} {leaders}"
    parts = [first, *_redundancy_clause(record), *_convergence_clause(record)]
    return f"{'; '.join(parts)}."


def how_many(record: SelectionRecord) -> str:
    """How the number of features was chosen, in one or two sentences; empty where it was given."""
    curve = record.number
    if curve is None:
        return ""
    at = dict(zip(curve.ks, zip(curve.means, curve.errors, strict=True), strict=True))
    name, unit = curve.scoring, measure(curve.scoring).unit
    best = f"{score_text(*at[curve.best], name)}{unit}"
    others = [
        f"{'the majority class' if record.data.classes is not None else 'the mean'} alone reaches "
        f"{number(curve.chance, name)}{unit}"
    ]
    if curve.all_features is not None:
        n = record.data.n_features
        others.insert(0, f"all {n:,} features reach {number(curve.all_features, name)}{unit}")
    rule = (
        f"it has the best {measure(name).words}, {best}, and no smaller one comes within one standard error"
        if curve.chosen == curve.best
        else f"the smallest within one standard error of the best {measure(name).words}, {best} with "
        f"{curve.best:,}; it reaches {number(at[curve.chosen][0], name)}{unit}"
    )
    return (
        f"The number of features, {curve.chosen:,}, was chosen by {curve.n_folds}-fold cross-validation "
        f"among {_tried(curve.ks)}: {rule}. For comparison: {', '.join(others)}."
    )


def _tried(ks: tuple[int, ...]) -> str:
    """Numbers as a sentence has them; of many, the first and the last.

    >>> _tried((1, 2, 3)), _tried(tuple(range(1, 31)))
    ('1, 2 and 3', '1, 2, 3, 4, 5, 6, ... and 30 (30 numbers)')
    """
    shown = [f"{k:,}" for k in ks]
    if len(ks) > MOST_NUMBERS:
        return f"{', '.join(shown[:6])}, ... and {shown[-1]} ({len(ks)} numbers)"
    *others, last = shown
    return f"{', '.join(others)} and {last}" if others else last


def _redundancy_clause(record: SelectionRecord) -> list[str]:
    if record.redundancy is None:
        return []
    limit = f"|r| of at least {record.redundancy.threshold:g}"
    shared = shared_groups(record)
    if not shared:
        return [f"no two of them repeat each other ({limit})"]
    repeated = sum(len(features) for features in shared.values())
    groups = "one group" if len(shared) == 1 else f"{len(shared):,} groups"
    return [f"{repeated:,} of them fall into {groups} of near-duplicates ({limit})"]


def _convergence_clause(record: SelectionRecord) -> list[str]:
    found = record.convergence
    if found is None or found.converged is None:
        return []
    return [
        "the solver converged"
        if found.converged
        else "the solver did not converge, so treat the order with care"
    ]


def shared_groups(record: SelectionRecord) -> dict[int, list[SelectedFeature]]:
    """Redundancy groups with more than one feature, the best first."""
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
    """How a score is shown; of scikit-learn's scorers those that begin with "neg" are errors.

    >>> measure("neg_root_mean_squared_error").words
    'root mean squared error'
    """
    if name in MEASURES:
        return MEASURES[name]
    if name.startswith("neg_"):
        return Measure(name.removeprefix("neg_").replace("_", " "), -1.0, "", ".4g", ".2g")
    return Measure(name.replace("_", " "))


def unit(name: str) -> tuple[float, str]:
    """By what a score is multiplied to be shown, and its sign."""
    how = measure(name)
    return how.factor, how.unit


def shown(value: float, name: str) -> float:
    """A score in the unit in which people know it."""
    return measure(name).factor * value + 0.0  # no zero with a minus sign


def number(value: float, name: str) -> str:
    """A score as it is shown, without its unit: one decimal of a percentage, three of an R².

    >>> number(0.954, "accuracy"), number(0.5, "r2"), number(-1234.56, "mae")
    ('95.4', '0.500', '1235')
    """
    text = f"{shown(value, name):{measure(name).format}}"
    return text.removeprefix("-") if float(text) == 0 else text


def error_text(error: float, name: str) -> str:
    """A standard error, which has no direction."""
    how = measure(name)
    return f"{abs(how.factor * error):{how.error_format or how.format}}"


def score_text(mean: float, error: float, name: str) -> str:
    """A mean with its standard error, where there is one.

    >>> score_text(0.954, 0.012, "accuracy")
    '95.4 ± 1.2'
    """
    return number(mean, name) if isnan(error) else f"{number(mean, name)} ± {error_text(error, name)}"


def signed(value: float, name: str) -> str:
    """A difference of scores with its sign."""
    text = number(value, name)
    return text if text.startswith("-") else f"+{text}"


SLACK = 1e-9  # a frequency of 75 in 100 reaches a threshold of 0.75
COPIES = "shuffled copies of the features, which say nothing of the target"


def how_sure(record: SelectionRecord) -> str:
    """Whether the features would be chosen again, and are better than chance; empty where nobody looked."""
    found, race, selected = record.stability, record.shadows, _chosen(record)
    if record.selected and not selected:
        return ""
    if found is not None and found.n_stable == 0:
        return _not_stable(found, race, selected)
    if found is not None and found.expected_false >= found.n_stable:
        return _too_many(found, race, selected)
    sentences = [] if found is None else [_stable(found, selected)]
    return " ".join(sentences if race is None else [*sentences, _raced(race)])


def _chosen(record: SelectionRecord) -> tuple[SelectedFeature, ...]:
    """What was selected, less what was asked for: that comes again in any case."""
    kept = record.request.method.parameters.get("keep")
    return tuple(one for one in record.selected if not (isinstance(kept, list) and one.name in kept))


def _stable(found: Stability, selected: tuple[SelectedFeature, ...]) -> str:
    again = [one for one in selected if found.frequencies[one.index] >= found.threshold - SLACK]
    were = "was" if 1 in (len(again), len(selected)) else "were"
    return (
        f"In {_halves(found)}, {_of(len(again), len(selected))} "
        f"{were} chosen {_often(found)}; of {_count(found.n_stable)} that "
        f"stable, {_at_most(found.expected_false)} expected to be there by chance."
    )


def _not_stable(found: Stability, race: Shadows | None, selected: tuple[SelectedFeature, ...]) -> str:
    """That nothing is stable together with how the features fared: each alone would sound like the whole."""
    nothing = f"in {_halves(found)}, no feature was chosen {_often(found)}"
    doubt = f"Nothing is stable: {nothing}. What was selected may be chance"
    if race is None:
        return f"{doubt}."
    ahead = _always_ahead(selected)
    if _clearly_better(ahead, race):
        which = (
            f"all {race.n_compared:,}" if ahead == race.n_compared else f"{ahead:,} of {race.n_compared:,}"
        )
        said = (
            "The selected features tell more of the target than chance does, but other samples could have "
            f"led to others in their place: {which} were ahead of all {COPIES}, in each of {race.n_repeats} "
            f"trials; yet {nothing}."
        )
        some = any(one.stand_ins for one in selected)
        return f"{said} The page names features that could stand in for some of them." if some else said
    return f"{doubt}{_in_doubt(race)}"


def _too_many(found: Stability, race: Shadows | None, selected: tuple[SelectedFeature, ...]) -> str:
    """Where a half chooses most features, most are chosen again, on noise too: the bound says nothing."""
    crowd = (
        f"in {_halves(found)}, {_number(found.n_stable)} chosen {_often(found)}, but as many could be by "
        f"chance, for a half chose {found.per_half:.0f} of the {len(found.frequencies):,} features. Ask for "
        "fewer of them to tell"
    )
    if race is not None and _clearly_better(_always_ahead(selected), race):
        return f"Whether they would be chosen again cannot be told: {crowd}. {_raced(race)}"
    doubt = f"Nothing is more stable than chance: {crowd}. What was selected may be chance"
    return f"{doubt}." if race is None else f"{doubt}{_in_doubt(race)}"


def _in_doubt(race: Shadows) -> str:
    """How the features fared, after words of doubt."""
    if race.n_beaten:
        return f". {_raced(race)}"
    return f": {_every(race)} better than {COPIES}, but by chance {_by_chance(race)} would, too."


def _always_ahead(selected: tuple[SelectedFeature, ...]) -> int:
    """Features that were ahead of all shadows in all repeats."""
    return sum(one.wins == 1.0 for one in selected)


def _raced(race: Shadows) -> str:
    if race.n_beaten:
        return f"{_capital(COPIES)}, do as well as {_of(race.n_beaten, race.n_compared)}."
    # With fewer shadows than features, it takes less to be ahead of them.
    more = f"; by chance, {_by_chance(race)} would" if race.by_chance >= 2 else ""
    return f"{_capital(_every(race))} better than {COPIES}{more}."


def _clearly_better(ahead: int, race: Shadows) -> bool:
    """Whether more features were ahead of all shadows in all repeats than would be by chance.

    With R repeats of S shadows, N / (R S + 1) of N features that say nothing are. Features that are alike win
    together, so that it takes half of the selected ones, and two more than twice that number.
    """
    by_chance = _n_racing(race) / (race.n_repeats * race.n_shadows + 1)
    return ahead >= max(race.n_compared / 2, 2 * by_chance + 2)


def _n_racing(race: Shadows) -> int:
    """Features that competed with the shadows, selected or not."""
    return round(race.by_chance * (race.n_shadows + 1))


def _by_chance(race: Shadows) -> str:
    n = max(round(race.by_chance), 1)
    return f"about {'one' if n == 1 else f'{n:,}'} of the {_n_racing(race):,} features"


def _every(race: Shadows) -> str:
    return "the selected feature does" if race.n_compared == 1 else f"all {race.n_compared:,} do"


def _halves(found: Stability) -> str:
    return f"{2 * found.n_pairs:,} random halves of the samples"


def _often(found: Stability) -> str:
    return f"{ceil(2 * found.n_pairs * found.threshold - SLACK):,} times or more"


def _of(n: int, k: int) -> str:
    if k == 1:
        return "the selected feature" if n else "no selected feature"
    whole = f"the {k:,} selected features"
    return f"all {k:,} selected features" if n == k else f"{n:,} of {whole}" if n else f"none of {whole}"


def _count(n: int) -> str:
    return "the one feature" if n == 1 else f"the {n:,} features"


def _number(n: int) -> str:
    return "one feature was" if n == 1 else f"{n:,} features were"


def _at_most(expected: float) -> str:
    return "fewer than 0.1 are" if expected < 0.1 else f"at most {expected:.1f} are"


def _capital(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"
