"""What agents may use, what they used, and what they are going to use."""
