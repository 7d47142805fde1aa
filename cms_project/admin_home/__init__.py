"""The home page of the admin."""
