"""Module groups and global modules."""
