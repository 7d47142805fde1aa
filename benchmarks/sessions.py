"""Further inputs of the servers: an editor's session, and the schemas for the floor."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import orjson
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

from proofroom.accounts.models import User
from proofroom.definitions import modules


def cookie_of(user_id: int) -> dict[str, str]:
    """Return the Cookie header of a browser with a login of this user."""
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user_id)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = User.objects.get(pk=user_id).get_session_auth_hash()
    session.save()
    return {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session.session_key}"}


def schemas(folder: Path) -> Path:
    """Write the schemas of all modules, by name, to a file. Return its path."""
    found = {}
    for name in modules.names():
        definition = modules.get(name)
        assert definition is not None
        found[name] = {
            "type": name,
            "propsSchema": definition.props_schema(),
            "defaultProps": definition.default_props(),
        }
    path = folder / "schemas.json"
    path.write_bytes(orjson.dumps(found))
    return path
