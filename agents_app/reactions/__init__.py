"""Reactions to runs: calls to other systems, messages in a chat, calls of tools."""
