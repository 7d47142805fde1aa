"""What waits for a decision, as rows that a list can sort: made from the drafts in the transaction of each write."""
