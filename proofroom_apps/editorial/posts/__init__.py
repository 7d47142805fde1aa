"""The list of posts, and the pages of one post beside its form and its review."""
