"""Masking of visitors' personal data in the payload of a run, before it goes to a provider.

The run's row keeps what the visitor sent, for people and for the erasure of a person's data.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents_app.ai_settings import ai_settings, masked_kinds
from agents_app.runs.permissions import UNTRUSTED_KEY
from forms.masking import mask_answers
from proofroom.core.json import Json, JsonObject

_ANSWERS_KEY = "payload"
_FORM_KEY = "formSlug"


def mask_submission(payload: JsonObject) -> tuple[JsonObject, frozenset[str]]:
    """Return the payload with the visitor's answers masked, and the kinds of data that were masked.

    No query without a submission, two with one.
    """
    context = payload.get("context")
    if not isinstance(context, Mapping) or UNTRUSTED_KEY not in context:
        return payload, frozenset()
    kinds = masked_kinds(ai_settings())
    untrusted = context[UNTRUSTED_KEY]
    given = untrusted if isinstance(untrusted, Mapping) else {}
    slug, answers = given.get(_FORM_KEY), given.get(_ANSWERS_KEY)
    hidden: Json
    if isinstance(slug, str) and isinstance(answers, Mapping):
        found = mask_answers(slug, answers, kinds)
        hidden = {**given, _ANSWERS_KEY: found.answers}
    else:
        # A caller's own value, of which at most the keys are known.
        found = mask_answers("", {UNTRUSTED_KEY: untrusted}, kinds)
        hidden = found.answers[UNTRUSTED_KEY]
    return {**payload, "context": {**context, UNTRUSTED_KEY: hidden}}, found.kinds
