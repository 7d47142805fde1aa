"""Which post types tell visitors about AI work, and how."""
