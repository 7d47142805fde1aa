"""What an agent is: files in `agents/` folders, read, checked, switched on and off."""
