"""Menus and their links."""
