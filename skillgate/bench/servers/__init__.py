"""The servers that packaged benchmarks need, on loopback: each file declares its ``SERVICE``."""
