"""Checks of values from outside, and the errors that they raise."""
