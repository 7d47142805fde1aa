"""Database access of content: the repository, queries, scopes, search and layer state."""
