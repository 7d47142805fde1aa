"""Packages that never import `content`: accounts, definitions, webhooks, the core and others."""
