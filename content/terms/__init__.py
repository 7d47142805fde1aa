"""Terms of taxonomies, and where they are used."""
