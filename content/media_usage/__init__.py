"""Which files content uses, and where."""
