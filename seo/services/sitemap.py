"""The sitemap, made anew at the wish of a person."""

from __future__ import annotations

from django.utils.translation import gettext as _

from core import events
from core.actor import Actor
from core.errors import Conflict
from core.json import JsonObject
from seo.sitemap.keeping import Build, NotReady, rebuilt


def rebuild_sitemap(*, origin: str, actor: Actor) -> Build:
    """Forget the sitemap that is kept under a name of the site, and make it now."""
    actor.require_person("have the sitemap made anew")
    actor.require("seo.manage")
    try:
        build = rebuilt(origin)
    except NotReady:
        message = _("The sitemap is being made already, or cannot be kept; try again in a minute.")
        raise Conflict(message, code="sitemap_busy") from None
    payload: JsonObject = {"urls": build.urls, "parts": build.parts}
    events.record("sitemap.rebuilt", actor=actor, payload=payload)
    return build
