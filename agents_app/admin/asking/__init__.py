"""Agents asked from where one is: beside a field, on a post, anywhere."""
