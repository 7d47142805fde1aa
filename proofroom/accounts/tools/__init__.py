"""Tools that look into the site that runs, for AI clients that look for a fault."""
