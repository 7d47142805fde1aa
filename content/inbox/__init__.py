"""The inbox: rows of undecided changes, made from the drafts in the transaction of each write."""
