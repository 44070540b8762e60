"""Results that outlive a run: one schema for SQLite and PostgreSQL."""
