"""The list of posts, and the pages of a post other than its form and review."""
