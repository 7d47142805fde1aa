"""URL paths of posts, and the patterns they are made from."""
