"""The editor of a post: form, modules and fields."""
