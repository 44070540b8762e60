"""The packaged benchmarks, what they are served with, and the reference skills that pass them."""
