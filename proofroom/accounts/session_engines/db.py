"""Sessions in the database."""

from __future__ import annotations

from proofroom.accounts.session_engines import CompiledRead


class SessionStore(CompiledRead):
    """Django's, which `SESSION_ENGINE` names by its module."""
