"""Reads and writes of content's tables: the repository, queries, scopes, search and layer state."""
