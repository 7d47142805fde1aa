"""Other systems with the same posts, measured by the same client beside the same floor."""
