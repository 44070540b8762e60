"""Past results: reports and databases of other programs, and their import into the store."""
