"""Agents' own hooks: how they are installed, what their calls say, and what they may be answered with."""
