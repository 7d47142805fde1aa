"""Features of the site that stand on `content`: the editorial admin, the website, imports, menus and others."""
