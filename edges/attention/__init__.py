"""The person's queue at the edge: who asks, with which files to show it; and a desk for every command and question."""
