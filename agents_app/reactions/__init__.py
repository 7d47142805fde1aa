"""Reactions to runs: calls to other systems, chat messages, tool calls."""
