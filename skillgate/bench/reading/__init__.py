"""Read skills, benchmarks and files of tasks, and check them."""
