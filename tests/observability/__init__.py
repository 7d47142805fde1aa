"""What operators see of the work."""
