"""Translations: the matrix of all posts, and the copies of one."""
