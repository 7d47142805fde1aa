"""AI settings in the admin: providers, usage and budgets."""
