"""Services that write accounts, roles, invitations and API tokens."""
