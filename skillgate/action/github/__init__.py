"""GitHub: its API, events and the protocol of its runner."""
