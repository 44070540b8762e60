"""The GitHub Action: from inputs and event to a gated report, a comment and outputs."""
