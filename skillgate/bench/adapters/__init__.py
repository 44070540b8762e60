"""Adapters run skills. Each file is one adapter and defines ``open_adapter(skill, surroundings) -> Adapter``."""
