"""Shared fixtures of the tests of connected AI clients."""

from tests.mcp.conftest import environment, locked_server, person, prepared

__all__ = ["environment", "locked_server", "person", "prepared"]
