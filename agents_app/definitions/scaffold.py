"""The text of a new agent file: valid as it stands, with a comment wherever there is something to choose."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from agents_app.definitions.schema import Scope
from agents_app.providers.vendors import VENDORS
from proofroom.core.json import JsonObject

_PROMPT: Final = (
    "You are {{agent}}. You work on a post of type {{postType}} (scope: {{scope}}).",
    "Say here what is to be done, what a good answer is, and what must not be touched. State only what the post "
    "says. Leave out every field that is good already.",
    "For a single field answer with its new value in the form of the present one. Close with a summary of what you "
    "changed and why, in one to three sentences.",
    "Additional data of this run: {{context}}",
)
_FRONT: Final = """\
---
name: {name}
description: What it does, in one sentence, for the people who start it.
llmConfig:
  # Without a provider the AI settings choose, then the environment.
  # providerText: anthropic        # {providers}
  # modelText: …
  options:
    temperature: 0.3
    maxTokens: 4000
  # useMCP: true                   # lets it call tools; an empty or absent list means all
  # allowedMCPTools: [list_posts, get_post_context]
scopes:
{scopes}openEndedContext:
  enabled: true                    # whether people may add words of their own
  label: What should it look out for?
  maxChars: 2000
# userAccount: {{enabled: true, createAtBoot: true}}
# reactions:
#   - {{type: chat, trigger: on_error, config: {{template: "{{{{agent}}}} failed"}}}}
---
"""


def markdown_of(name: str, scopes: Sequence[Scope]) -> str:
    """The agent as Markdown with front matter."""
    entries = ""
    for scope in dict.fromkeys(scopes):
        entries += f"  - scope: {scope}\n    order: 50\n"
        if scope == Scope.FIELD:
            entries += "    # fieldTypes: [text, textarea]   # or: fieldKeys: [post.title, module.hero.title]\n"
        elif scope == Scope.FORM_SUBMIT:
            entries += "    # formSlugs: [contact]\n"
    front = _FRONT.format(
        name=json.dumps(name, ensure_ascii=False), scopes=entries, providers=", ".join(VENDORS)
    )
    return front + "\n\n".join(_PROMPT) + "\n"


def json_of(name: str, scopes: Sequence[Scope]) -> str:
    """The same as JSON, which has no comments."""
    values: JsonObject = {
        "name": name,
        "description": "What it does, in one sentence, for the people who start it.",
        "llmConfig": {
            "options": {"temperature": 0.3, "maxTokens": 4000},
            "useMCP": False,
            "systemPrompt": "\n\n".join(_PROMPT),
        },
        "scopes": [{"scope": scope.value, "order": 50} for scope in dict.fromkeys(scopes)],
        "openEndedContext": {
            "enabled": True,
            "label": "What should it look out for?",
            "maxChars": 2000,
        },
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"
