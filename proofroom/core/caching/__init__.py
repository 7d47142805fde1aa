"""Caches: whole answers, fragments and outlines of pages, posts and answers in front of Django, parsed Accept
headers; the lease on the content version that validates them; and Redis as Django's cache.
"""
