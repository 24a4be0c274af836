"""Sinks: each writes what the line released, and decides nothing."""
