"""What agents may cost, and have cost."""
