"""How sure a selection is, in words: would it be made again, and is it better than chance?"""

from __future__ import annotations

from math import ceil

from infused.record.schema import SelectedFeature, SelectionRecord
from infused.record.trust import Shadows, Stability

__all__ = ["how_sure"]

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
