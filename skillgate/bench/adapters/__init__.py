"""How skills are run: one file for each kind, each with ``open_adapter(skill, surroundings) -> Adapter``."""
