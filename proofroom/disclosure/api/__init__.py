"""The API of the disclosure of AI work."""
