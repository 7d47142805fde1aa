"""Validation of values from outside, and its errors."""
