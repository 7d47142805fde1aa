"""What a run may be given: the field it is asked about, its context and the words of whoever starts it."""

from __future__ import annotations

import json
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _

from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AgentRun
from agents_app.running.fields import find_field
from content.layers import open_layers
from content.models import Post
from core.errors import NotAllowed, invalid
from core.hostile import refuse_unstorable
from core.json import JsonObject

CONTEXT_MAX: Final = 50_000
OPEN_ENDED_MAX: Final = 20_000
FIELD_KEY_MAX: Final = AgentRun._meta.get_field("field_key").max_length or 0


def module_id_of(post_module_id: str | None) -> str | None:
    """The id of a module as documents have it. Raises `RuleViolation` where it is none."""
    if post_module_id is None:
        return None
    try:
        return str(UUID(post_module_id))
    except ValueError:
        raise invalid("postModuleId", _("postModuleId must be a UUID.")) from None


def check_field(
    agent: AgentDefinition,
    scope: str,
    post: Post | None,
    field_key: str | None,
    post_module_id: str | None,
) -> None:
    """The scope `field`, and no other, has a field, which must be there and be served by the agent."""
    if scope != Scope.FIELD:
        if field_key is not None:
            raise invalid("fieldKey", _("fieldKey belongs to the scope field."))
        return
    if not field_key or post is None:
        raise invalid("fieldKey", _("A run in the scope field needs fieldKey, such as post.title."))
    if len(field_key) > FIELD_KEY_MAX:
        raise invalid(
            "fieldKey",
            _("fieldKey may have at most %(field_key_max)s characters.")
            % {"field_key_max": FIELD_KEY_MAX},
        )
    refuse_unstorable(field_key, "fieldKey")
    target = find_field(open_layers(post).ai_review.document, field_key, post_module_id)
    if not any(
        entry.serves(field_type=target.field_type, field_key=field_key, form_slug=None)
        for entry in agent.entries(Scope.FIELD)
    ):
        raise NotAllowed(
            _("The agent %(id)s does not serve the field %(field_key)s.")
            % {"id": agent.id, "field_key": field_key},
            code="agent_not_in_scope",
        )


def check_words(agent: AgentDefinition, context: JsonObject | None, open_ended: str | None) -> None:
    """Raise `RuleViolation` on `context`, the path in it, or `openEndedContext`."""
    refuse_unstorable(context, "context")
    if context and len(json.dumps(context)) > CONTEXT_MAX:
        raise invalid(
            "context",
            _("At most %(context_max)s characters of JSON are allowed.")
            % {"context_max": f"{CONTEXT_MAX:,}"},
        )
    if open_ended is None:
        return
    rule = agent.open_ended_context
    if not rule.enabled:
        raise invalid(
            "openEndedContext", _("The agent %(id)s takes no words of your own.") % {"id": agent.id}
        )
    refuse_unstorable(open_ended, "openEndedContext")
    most = min(rule.max_chars or OPEN_ENDED_MAX, OPEN_ENDED_MAX)
    if len(open_ended) > most:
        raise invalid(
            "openEndedContext",
            _("It has %(number)s characters; at most %(most)s are allowed.")
            % {"number": f"{len(open_ended):,}", "most": f"{most:,}"},
        )
