"""Django's backend for PostgreSQL with a pool that survives restarts of the server."""
