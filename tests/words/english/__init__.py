"""The check of the English: spelling and grammar by harper, phrases to avoid, one sentence a line."""
