"""The activity log: who did what, when and through which door, sealed into a chain that shows every change.

The rows are the events themselves. `sealing` adds them to the chain, `verifying` walks it, `pruning` takes the
oldest end away, `reading` finds entries and `presenters` puts them into words.
"""
