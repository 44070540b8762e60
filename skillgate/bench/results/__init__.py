"""Results of benchmarks: figures and gates, reports and their shards, differences, reruns."""
