"""The document of a post, and the changes between two documents. Plain Python, without Django."""
