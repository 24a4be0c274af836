"""Sources: bytes and processes become events and signals."""
