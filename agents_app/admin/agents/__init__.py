"""The list of agents, the page of an agent and its dry run."""
