"""The admin page of AI settings: providers, usage and budgets."""
