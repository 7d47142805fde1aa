"""The files that content uses, and where."""
