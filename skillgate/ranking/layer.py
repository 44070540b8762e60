"""Layer 4 for one skill: matches against its opponents, and the ratings they give."""
