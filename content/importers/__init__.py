"""Content from elsewhere becomes draft posts."""
