"""The GitHub Action: inputs and event in, a gated report, a comment and outputs out."""
