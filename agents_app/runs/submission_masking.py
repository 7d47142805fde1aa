"""Masking of visitors' personal data in the payload of a run, before it goes to a provider.

The run's row keeps what the visitor sent, for people and for the erasure of a person's data.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents_app.ai_settings import ai_settings, masked_kinds
from agents_app.runs.permissions import UNTRUSTED_KEY
from forms.masking import mask_answers
from proofroom.core.json import JsonObject

_ANSWERS_KEY = "payload"
_FORM_KEY = "formSlug"


def mask_submission(payload: JsonObject) -> tuple[JsonObject, frozenset[str]]:
    """Return the payload with the visitor's answers masked, and the kinds of data that were masked.

    No query without a submission, two with one.
    """
    context = payload.get("context")
    untrusted = context.get(UNTRUSTED_KEY) if isinstance(context, Mapping) else None
    if not isinstance(context, Mapping) or not isinstance(untrusted, Mapping):
        return payload, frozenset()
    kinds = masked_kinds(ai_settings())
    slug, answers = untrusted.get(_FORM_KEY), untrusted.get(_ANSWERS_KEY)
    if isinstance(slug, str) and isinstance(answers, Mapping):
        found = mask_answers(slug, answers, kinds)
        hidden: JsonObject = {**untrusted, _ANSWERS_KEY: found.answers}
    else:
        # A caller's own object, whose keys are all that is known of it.
        found = mask_answers("", untrusted, kinds)
        hidden = found.answers
    return {**payload, "context": {**context, UNTRUSTED_KEY: hidden}}, found.kinds
