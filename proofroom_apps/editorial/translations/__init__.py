"""Translations: the matrix of all posts, and the translations of one."""
