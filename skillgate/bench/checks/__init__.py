"""What static benchmarks check of a skill's directory: each file has ``check``, and its name is a ``checkType``."""
