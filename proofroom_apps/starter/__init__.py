"""Content for a new site: module types, post types, module groups, taxonomies and demo content."""
