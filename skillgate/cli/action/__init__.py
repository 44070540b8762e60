"""The Action's front: inputs to an evaluation, an evaluation to effects, effects performed."""
