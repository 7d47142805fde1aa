"""What the apps stand on and what knows no post: accounts, definitions, webhooks and the core."""
