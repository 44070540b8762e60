"""The eval sets in a skill's ``evals/``: read every known format, and find sets that cannot show anything."""
