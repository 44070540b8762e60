"""One file for each form in which invocations are recorded."""
