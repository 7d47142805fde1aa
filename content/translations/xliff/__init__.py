"""XLIFF 2: texts of posts for translators, and their translations into Review."""
