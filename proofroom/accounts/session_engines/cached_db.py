"""Sessions in the database, cached for reads."""

from __future__ import annotations

from django.contrib.sessions.backends import cached_db

from proofroom.accounts.session_engines import CompiledRead


class SessionStore(CompiledRead, cached_db.SessionStore):
    """Django's cached store with the compiled query. `SESSION_ENGINE` names this module."""
