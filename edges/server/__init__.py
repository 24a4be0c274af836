"""Server: the doors of a running line."""
