"""Terms of taxonomies as trees."""
