"""Attention: the person's queue on the command line, one file a group of commands."""
