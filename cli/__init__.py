"""The command line: says words to people, decides nothing."""
