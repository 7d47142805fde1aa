"""Content tools for agents and AI clients: thin functions over the services. They stage in AI Review only."""
