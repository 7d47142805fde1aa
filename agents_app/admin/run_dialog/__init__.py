"""The pages and the dialog in which people start agents: on a post, on a field, from anywhere."""
