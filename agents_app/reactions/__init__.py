"""What follows a run: calls to other systems, words in a chat, calls of tools."""
