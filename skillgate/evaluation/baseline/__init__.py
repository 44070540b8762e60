"""What a run is compared with."""
