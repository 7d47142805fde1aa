"""Module groups, and which modules suit a layout."""
