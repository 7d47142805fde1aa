"""Caches of whole answers and of results made from content, the content version that validates them, rate limits, and
Redis as Django's cache.
"""
