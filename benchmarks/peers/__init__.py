"""Other systems with the same posts, measured by the same client and floor."""
