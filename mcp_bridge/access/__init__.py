"""Who may call, and how often."""
