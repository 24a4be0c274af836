"""The demo: a scripted agent, a dev server that breaks, and the line between them."""
