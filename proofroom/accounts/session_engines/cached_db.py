"""Sessions in the database and, for reading, in the cache."""

from __future__ import annotations

from django.contrib.sessions.backends import cached_db

from proofroom.accounts.session_engines import CompiledRead


class SessionStore(CompiledRead, cached_db.SessionStore):
    """Django's, which `SESSION_ENGINE` names by its module."""
