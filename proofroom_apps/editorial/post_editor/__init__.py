"""The editor of a post: its form, its modules, its fields."""
