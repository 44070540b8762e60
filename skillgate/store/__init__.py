"""The store of results, with one schema for SQLite and PostgreSQL."""
