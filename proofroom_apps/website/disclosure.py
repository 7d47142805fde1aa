"""The disclosure of AI work on pages: a line for visitors, and structured data for machines."""

from __future__ import annotations

from django.utils.translation import gettext as _

from content.store.ai_disclosure import AiDisclosure
from proofroom.accounts.roles import Role
from proofroom.core.json import JsonObject
from proofroom.disclosure.models import Show


def line_of(found: AiDisclosure | None) -> str:
    """Return the line on the page, in the active language; empty without AI work or if it is not wanted."""
    if found is None or found.kind == "none" or found.show == Show.JSONLD:
        return ""
    return _sentences(found)


def structured_disclosure(found: AiDisclosure | None) -> JsonObject:
    """Return the properties of schema.org for a page with AI work; empty without it or if not wanted."""
    if found is None or found.kind == "none" or found.show == Show.LINE:
        return {}
    return {"digitalSourceType": found.digital_source_type, "creditText": _sentences(found)}


def _sentences(found: AiDisclosure) -> str:
    return " ".join(part for part in (_work(found), _approval(found)) if part)


def _work(found: AiDisclosure) -> str:
    if found.kind == "generated":
        return _("This text was written with AI.")
    if found.share == 100:
        return _("This text was written with AI and edited by people.")
    return _("About %(share)d%% of this text was written with AI.") % {"share": found.share}


def _approval(found: AiDisclosure) -> str:
    """Return who approved it: the person who agreed to be named, otherwise the role."""
    if found.name:
        return _("It was approved by %(name)s.") % {"name": found.name}
    # Whole sentences, since roles have articles and cases in some languages.
    if found.role == Role.ADMIN:
        return _("It was approved by an administrator.")
    if found.role == Role.EDITOR:
        return _("It was approved by an editor.")
    return _("It was approved by a member of the editorial team.")
