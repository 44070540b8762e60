"""The corpus that skills are ranked against."""
