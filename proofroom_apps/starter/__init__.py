"""The content that a new site begins with: module types, post types, module groups, taxonomies, demo content."""
