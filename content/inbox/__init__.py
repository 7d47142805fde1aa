"""The inbox: rows of undecided changes, updated with each write of a draft."""
