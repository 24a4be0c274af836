"""Contracts: frozen values that every room shares. Knows nothing of time, files or threads."""
