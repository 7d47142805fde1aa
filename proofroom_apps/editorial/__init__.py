"""The admin pages of editors: posts, review, inbox, translations, menus and terms."""
