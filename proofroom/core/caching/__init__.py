"""The cache of whole answers, and Redis as Django's cache."""
