"""What reading can meet: each file is loaded only when it applies."""
