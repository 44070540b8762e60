"""Choose among skills: what there is, and which to run."""
