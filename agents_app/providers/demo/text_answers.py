"""An answer in words, where there is no post to work on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agents_app.providers.demo.texts import LABEL, NOTE, Values, clean, shorten
from agents_app.providers.interface import Toolbox
from proofroom.core.json import JsonObject


def answered(context: Values, tools: Toolbox) -> JsonObject:
    """Describe what the site holds, as far as the tools tell; the question itself needs a model."""
    question = clean(context.get("openEndedContext"))
    asked = f" A model would answer “{shorten(question, 120)}”." if question else ""
    posts = called(tools, "list_posts", {"limit": 3})
    items, total = posts.get("items"), posts.get("total")
    if isinstance(items, str) or not isinstance(items, Sequence):
        return {"summary": f"{LABEL}: there is no post to work on.{asked} {NOTE}"}
    titles = [f"“{clean(item.get('title'))}”" for item in items if isinstance(item, Mapping)]
    count = "1 post" if total == 1 else f"{total} posts"
    told = f"this site has {count}; the latest: {', '.join(titles)}."
    if not titles:
        told = "this site has no posts yet."
    return {"summary": f"{LABEL}: {told}{asked} {NOTE}"}


def called(tools: Toolbox, name: str, arguments: JsonObject) -> Values:
    """Return a tool's answer; nothing where it may not be used, refused, or answered no JSON."""
    if name not in {spec.name for spec in tools.specs()}:
        return {}
    told = tools.call(name, arguments)
    if not told.ok:
        return {}
    try:
        value = json.loads(told.text)
    except ValueError:
        return {}
    return value if isinstance(value, Mapping) else {}
