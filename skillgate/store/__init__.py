"""The store of results: one schema for SQLite and PostgreSQL."""
