"""Where editors work: the admin pages of posts, review, inbox, translations, menus and terms."""
