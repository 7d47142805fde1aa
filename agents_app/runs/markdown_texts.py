"""Rich text as Markdown, as models read and write it.

The editor's JSON takes 1.5 to 2 times as many tokens as Markdown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, cast

import orjson

from agents_app.runs.module_props import shared_props
from content.document.document import PostDocument
from content.tools.rich_text import stored_props
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import modules
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.schema import is_document

SEE_FIELD: Final = "(see field.currentValue)"
SEE_TEXT: Final = "(see context.text)"
"""In place of a rich text that the message already contains."""
_TEXT_MAX: Final = 40_000
"""Maximum characters of a post's text in the payload of a field."""


def as_markdown(value: Json) -> Json:
    """Return a value in which every rich-text document is Markdown."""
    if isinstance(value, dict):
        if is_document(value):
            return _markdown(orjson.dumps(value))
        return {name: as_markdown(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_markdown(item) for item in value]
    return value


def has_rich_text(value: Json) -> bool:
    """Return True if a value contains a rich-text document."""
    if isinstance(value, dict):
        return is_document(value) or any(has_rich_text(item) for item in value.values())
    return isinstance(value, list | tuple) and any(has_rich_text(item) for item in value)


# Cached, because estimates, tries and runs on several fields write the same texts.
@lru_cache(maxsize=500)
def _markdown(document: bytes) -> str:
    return to_markdown(orjson.loads(document)).strip()


def text_of_post(document: PostDocument, without: tuple[str, str] | None = None) -> str:
    """Return the text of a post's modules as Markdown, each below a line with its type and id.

    `without`: module id and name of a prop that stands elsewhere in the message. One query if the
    post has global modules.
    """
    shared = shared_props(document)
    parts: list[str] = []
    left = _TEXT_MAX
    for module in document.modules:
        props = {**shared.get(module.instance_id, {}), **module.props, **module.overrides}
        is_target = without is not None and module.id == without[0]
        if is_target and without is not None:
            props.pop(without[1], None)
        definition = modules.get(module.type)
        text = definition.as_markdown({**definition.default_props(), **props}) if definition else ""
        lines = [f"[{module.type} {module.id}]", text.strip(), SEE_FIELD if is_target else ""]
        part = "\n".join(filter(None, lines))
        parts.append(part[:left])
        left -= len(part)
        if left <= 0:
            parts.append("[The text is too long: the rest is left out here.]")
            break
    return "\n\n".join(parts)


def as_documents(
    type_name: str, values: Mapping[str, Json], current: Mapping[str, Json]
) -> JsonObject:
    """Return new props of a module with Markdown in rich-text props converted.

    Blocks whose Markdown is unchanged stay as they are in `current`, also what Markdown cannot
    express, such as merged cells.
    """
    stored = stored_props(type_name, values) or {}
    return {
        name: _with_unchanged_blocks(value, current.get(name)) for name, value in stored.items()
    }


def as_document(value: Json, current: Json) -> Json:
    """Return the new value of a rich-text field, given as Markdown or as a document."""
    new = from_markdown(value) if isinstance(value, str) else value
    return _with_unchanged_blocks(new, current)


def _with_unchanged_blocks(value: Json, current: Json) -> Json:
    if isinstance(value, dict) and isinstance(current, dict):
        if is_document(value) and is_document(current):
            return _merge_blocks(value, current)
        if not is_document(value):
            return {
                name: _with_unchanged_blocks(item, current.get(name))
                for name, item in value.items()
            }
    if isinstance(value, list) and isinstance(current, list) and len(value) == len(current):
        return [_with_unchanged_blocks(item, old) for item, old in zip(value, current, strict=True)]
    return value


def _merge_blocks(new: JsonObject, current: JsonObject) -> JsonObject:
    blocks, old_blocks = _blocks_of(new), _blocks_of(current)
    written, old_written = _each_as_markdown(blocks), _each_as_markdown(old_blocks)
    if [text for text in written if text] == [text for text in old_written if text]:
        return current
    merged = list(blocks)
    matcher = SequenceMatcher(None, old_written, written, autojunk=False)
    for old_start, start, size in matcher.get_matching_blocks():
        merged[start : start + size] = old_blocks[old_start : old_start + size]
    return {**new, "content": merged}


def _blocks_of(document: JsonObject) -> Sequence[Json]:
    return cast("Sequence[Json]", document.get("content") or [])


def _each_as_markdown(blocks: Collection[Json]) -> list[str]:
    return [_markdown(orjson.dumps({"type": "doc", "content": [block]})) for block in blocks]
