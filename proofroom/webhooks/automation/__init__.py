"""Workflows: files that have another system told when something happens, each in words of its own."""
