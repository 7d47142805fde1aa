"""Module groups, and modules that posts share."""
