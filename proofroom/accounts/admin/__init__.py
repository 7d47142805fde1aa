"""The admin of accounts: people, and the tokens of their programs."""

from proofroom.accounts.admin import tokens, users

__all__ = ["tokens", "users"]
