"""Providers that answer agents: models through the AI library, and the rule-based demo."""
