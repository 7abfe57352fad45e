"""Selections with a promise on errors, and tests of a selection."""
