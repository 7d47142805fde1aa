"""Word lists and tables by language: spelling, numbers, negations, and the language of a text."""
