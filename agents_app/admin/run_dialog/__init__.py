"""The pages and the dialog that start agents: on a post, on a field, or without either."""
