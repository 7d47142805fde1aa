"""The activity log: who did what, when and through which door, sealed into a chain that shows every change.

The rows are the events themselves. `chain` seals, verifies and prunes them, `queries` finds entries, `presenters`
puts them into words and `export` into a file. `api` answers them.
"""
