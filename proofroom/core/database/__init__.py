"""What the two databases need beyond Django's backends."""
