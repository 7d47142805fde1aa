"""Sessions in the database."""

from __future__ import annotations

from proofroom.accounts.session_engines import CompiledRead


class SessionStore(CompiledRead):
    """Django's store with the compiled query. `SESSION_ENGINE` names this module."""
