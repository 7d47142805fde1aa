"""Notices for a chat: one sentence for each event that the team wants to hear of."""
