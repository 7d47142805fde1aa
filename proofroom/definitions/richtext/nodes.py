"""Reading a stored document without trusting its shape: foreign data must never break a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofroom.core.json import Json

Node = Mapping[str, Json]

# Control characters are never stored: databases refuse some, Markdown cannot express others.
_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")
_CONTROLS |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_CONTROLS_OF_A_LINE = {code: char for code, char in _CONTROLS.items() if code != 0x09}
_CONTROLS_OF_CODE = {code: char for code, char in _CONTROLS_OF_A_LINE.items() if code != 0x0A}


def kind(node: Node) -> str:
    value = node.get("type")
    return value if isinstance(value, str) else ""


def children(node: Node) -> list[Node]:
    value = node.get("content")
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [child for child in value if isinstance(child, Mapping)]


def attributes(node: Node) -> Node:
    value = node.get("attrs")
    return value if isinstance(value, Mapping) else {}


def string(value: Json) -> str:
    """The value when it is a string, else the empty string."""
    return value if isinstance(value, str) else ""


def integer(value: Json, *, default: int, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        return default
    return min(max(value, least), most)


def one_line(text: str) -> str:
    """The text with every control character but the tab as a space."""
    return text.translate(_CONTROLS_OF_A_LINE)


def code_lines(text: str) -> str:
    """The text of a code block: line breaks and tabs stay."""
    return text.translate(_CONTROLS_OF_CODE)


def has_controls(text: str) -> bool:
    """Return whether a text has control characters other than tab and line break."""
    return code_lines(text) != text


def gathered(node: Node) -> str:
    """All text below a node of any shape and depth, words of separate nodes kept apart."""
    found: list[str] = []
    waiting = [node]
    while waiting:
        current = waiting.pop()
        text = string(current.get("text")) or string(attributes(current).get("alt"))
        if text:
            found.append(text)
        waiting.extend(reversed(children(current)))
    return " ".join(found)
