"""Edges: the world. Everything here only feeds the line or only writes what it released."""
