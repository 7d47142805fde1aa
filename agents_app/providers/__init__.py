"""Providers that answer agents: models behind the AI library, and the rule-based demo."""
