"""The review screen of a post."""
