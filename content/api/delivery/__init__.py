"""The public delivery API: posts, lists and what they refer to, for frontends without an account."""
