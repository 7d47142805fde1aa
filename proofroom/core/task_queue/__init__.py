"""Messages to workers."""
