"""The tool that reads the editorial brief, for agents and AI clients."""

from __future__ import annotations

from django.conf import settings
from pydantic import Field

from proofroom.briefs.effective import get_effective_brief
from proofroom.briefs.models import SECTION_MAX, TYPE_MAX
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.validation.input_validation import is_one_line
from proofroom.core.validation.limits import LOCALE_MAX
from proofroom.definitions import find_post_type

TOOL_NAME = "get_editorial_brief"


class OfTexts(Arguments):
    type: str | None = Field(None, max_length=TYPE_MAX)
    locale: str | None = Field(None, max_length=LOCALE_MAX)
    section: str | None = Field(None, max_length=SECTION_MAX, description="Path, such as guides.")


class NamedSource(Result):
    name: str
    version: int


class ReadBrief(Result):
    """`brief`: Markdown, empty if nobody wrote one."""

    brief: str
    sources: list[NamedSource]


@tool(
    title="Editorial brief", kind="read", permission="posts.view", group="context", result=ReadBrief
)
def get_editorial_brief(actor: Actor, arguments: OfTexts) -> JsonObject:
    """How this site writes: audience, voice, terms, names, examples. Follow it in every text of the type and
    language."""
    if arguments.type:
        find_post_type(arguments.type)
    known = settings.CMS_ENV.locales
    if arguments.locale and arguments.locale not in known:
        raise invalid("locale", f"locale must be one of: {', '.join(known)}.")
    if not is_one_line(arguments.section or ""):
        raise invalid("section", "section must be a path.")
    found = get_effective_brief(
        post_type=arguments.type, locale=arguments.locale, section=arguments.section
    )
    return {
        "brief": found.to_markdown(),
        "sources": [{"name": source.name, "version": source.version} for source in found.sources],
    }
