"""Store: memory in one SQLite database."""
