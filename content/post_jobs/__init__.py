"""Steps with many posts: copies of trees, and statuses of many posts at once."""
