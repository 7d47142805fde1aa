"""Find and replace over the texts of every app."""
