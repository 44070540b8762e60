"""The providers: each file gives ``connect(settings) -> Provider``, and only the one asked for is loaded."""
