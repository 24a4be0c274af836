"""Terminal: an agent in a pseudo-terminal, passed through byte by byte."""
