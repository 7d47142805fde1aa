"""Django's backend for PostgreSQL with a pool that outlives restarts of the server."""
