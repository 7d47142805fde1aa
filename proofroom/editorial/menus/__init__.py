"""Menus as trees."""
