"""Pipeline: every decision, as pure objects that are told the time."""
