"""Pages of global modules, menus and terms: what they were, where they show, what is proposed for them."""
