"""Find and replace in the admin."""
