"""The steps that bring a store to the form that this version knows."""
