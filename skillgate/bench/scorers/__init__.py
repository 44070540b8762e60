"""How answers are scored: one file for each scorer, each with ``prepare(task, rules, tools) -> Scorer``."""
