"""One agent asked about many posts, and how far that is."""
