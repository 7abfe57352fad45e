"""Options that take several values, with commas between."""

from __future__ import annotations

from infused.cli.errors import CommandError

__all__ = ["parse_names", "parse_numbers"]


def parse_names(option: str, text: str | None) -> list[str] | None:
    """Names with commas between; None where nothing was given."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise CommandError(f"{option} {text!r} has an empty entry: give names with commas between, like a,b")
    return names


def parse_numbers(option: str, text: str | None) -> list[int] | None:
    """Whole numbers from 1 with commas between; None where nothing was given."""
    names = parse_names(option, text)
    if names is None:
        return None
    if not all(name.isdecimal() and int(name) > 0 for name in names):
        raise CommandError(f"{option} {text!r}: give whole numbers with commas between, like 10,20,50")
    return [int(name) for name in names]
