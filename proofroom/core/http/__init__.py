"""Middleware, headers and cookies of HTTP."""
