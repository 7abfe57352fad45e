"""What selectors are given, checked: arrays, frames, groups, weights."""
