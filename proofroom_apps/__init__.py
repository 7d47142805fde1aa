"""Features of the site built on `content`: the editorial admin, the website, imports, menus and others."""
