"""Pages of global modules, menus and terms: history, usage, proposals."""
