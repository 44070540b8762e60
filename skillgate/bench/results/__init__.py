"""What the results of a benchmark run say: figures, gates, differences."""
