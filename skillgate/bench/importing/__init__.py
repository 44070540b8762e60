"""Turn files of questions and answers into benchmarks: ``bench import``."""
