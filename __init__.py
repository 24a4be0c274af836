"""tocsin: the one ordered line between everything that wants an agent's attention and the agent."""
