"""The activity log: who did what, when and through which channel. A hash chain makes any later change detectable.

The rows are the events themselves. `chain` seals, verifies and prunes them, `queries` finds entries, `presenters`
builds their sentences, `export` writes them to a file and `api` serves them.
"""
