"""One agent on many posts."""
