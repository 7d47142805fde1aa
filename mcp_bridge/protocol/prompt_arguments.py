"""A prompt with its arguments: what each may hold, so that no value of one can pass for words of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.conf import settings

from agents_app.definitions.files import get_agent
from content.definitions import post_types
from core.errors import invalid
from core.hostile import refuse_unstorable

POST: Final = "post"
POST_TYPE: Final = "post type"
MODULE: Final = "module type"
LOCALE: Final = "locale"
AGENT: Final = "agent"
BRIEF: Final = "brief"
_LONGEST: Final = 20_000
_SHOWN: Final = 60
_PLACE: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Argument:
    """`kind` says what it may hold."""

    kind: str
    description: str
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with `{places}` for its arguments; `further` are sentences for optional ones that are given, which stand
    at `{further}`."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, Argument]
    text: str
    further: Mapping[str, str] = field(default_factory=dict)

    def filled(self, given: Mapping[str, str]) -> str:
        """The text for these arguments. Raises `RuleViolation` on the one that is wrong."""
        values = {
            name: _checked(name, self.arguments[name].kind, value)
            for name, value in given.items()
            if value
        }
        sentences = [text for name, text in self.further.items() if name in values]
        values["further"] = "".join(f"\n{_filled(text, values)}" for text in sentences)
        return _filled(self.text, values)


def _filled(text: str, values: Mapping[str, str]) -> str:
    # In one pass: what a value holds is never filled again.
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), text)


def _checked(name: str, kind: str, value: str) -> str:
    refuse_unstorable(value, name)
    if kind == POST:
        return _post_id(name, value)
    if kind == POST_TYPE:
        return _known(name, value, list(post_types.names()))
    if kind == LOCALE:
        return _known(name, value, list(settings.CMS_ENV.locales))
    if kind == AGENT:
        if get_agent(value) is None:
            raise invalid(
                name, f"No agent is named {value[:_SHOWN]!r}. Call list_agents for the ids."
            )
        return value
    return _apart(name, value)


def _post_id(name: str, value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        raise invalid(
            name, f"{value[:_SHOWN]!r} is no id of a post. Call list_posts to find it."
        ) from None


def _known(name: str, value: str, known: list[str]) -> str:
    if value in known:
        return value
    raise invalid(name, f"{name} {value[:_SHOWN]!r} is not known; known: {', '.join(known)}.")


def _apart(name: str, value: str) -> str:
    """Free words between marks that they cannot close."""
    if len(value) > _LONGEST:
        raise invalid(name, f"{name} has {len(value):,} characters; at most {_LONGEST:,} fit.")
    inner = re.sub(rf"<(\s*/?\s*{name})", r"‹\1", value, flags=re.IGNORECASE)
    return f"<{name}>\n{inner}\n</{name}>"
