"""Diffs of rich text: first which blocks came, went or changed, then the words inside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Final, Literal, cast

from django.utils.translation import gettext as _

from content.review.diff import Segment, diff_text
from content.richtext.markdown import to_markdown
from content.richtext.nodes import Node, attributes, children, integer, kind
from content.richtext.text import to_text
from core.json import Json, JsonObject

Status = Literal["same", "changed", "inserted", "removed"]
_DEEPEST: Final = 12
_MOST_BLOCKS: Final = 2_000
_ALIKE: Final = 0.35
_LONG: Final = 4_000
_FOLDED: Final = 5


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, list item, quote, table row or the like. `markdown` also has what is no word."""

    role: str
    text: str
    markdown: str


@dataclass(frozen=True, slots=True)
class BlockDiff:
    """One block of the merged text. `is_formatting`: only links, marks or addresses differ, shown as Markdown."""

    status: Status
    role: str
    segments: tuple[Segment, ...]
    is_formatting: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """Blocks that follow one another; `is_folded` where they are unchanged and far from what changed."""

    blocks: tuple[BlockDiff, ...]
    is_folded: bool


def stretches(blocks: Sequence[BlockDiff]) -> list[Stretch]:
    """The blocks with long unchanged runs folded, but for the one beside each change."""
    found: list[Stretch] = []
    for is_same, run in groupby(blocks, lambda block: block.status == "same"):
        listed = tuple(run)
        if not is_same or len(listed) < _FOLDED:
            found.append(Stretch(listed, is_folded=False))
            continue
        found += [
            Stretch(listed[:1], is_folded=False),
            Stretch(listed[1:-1], is_folded=True),
            Stretch(listed[-1:], is_folded=False),
        ]
    return found


def blocks_of(document: object) -> list[Block]:
    """The blocks of a rich-text document in reading order."""
    nodes = children(document) if isinstance(document, dict) else []
    return [block for node in nodes for block in _blocks(node, "", 0)]


def _blocks(node: Node, role: str, depth: int) -> Iterator[Block]:
    name = kind(node)
    inner = children(node)
    if depth < _DEEPEST and name in ("bulletList", "orderedList", "table"):
        for item in inner:
            yield from _blocks(
                item, _("Table row") if name == "table" else _("List item"), depth + 1
            )
    elif depth < _DEEPEST and name == "blockquote":
        for item in inner:
            yield from _blocks(item, _("Quote"), depth + 1)
    elif depth < _DEEPEST and name == "listItem":
        for item in inner:
            yield from _blocks(item, role, depth + 1)
    else:
        yield _block(node, name, role)


def _block(node: Node, name: str, role: str) -> Block:
    whole: Node = {"type": "table", "content": [cast("Json", node)]} if name == "tableRow" else node
    document = _document([whole])
    if name == "heading":
        level = integer(attributes(node).get("level"), default=2, least=1, most=6)
        role = _("Heading %(level)s") % {"level": level}
    elif name == "codeBlock":
        role = _("Code")
    elif name == "horizontalRule":
        return Block(_("Line"), "———", "---")
    return Block(role, to_text(document), to_markdown(document).strip())


def _document(nodes: Sequence[Node]) -> JsonObject:
    return {"type": "doc", "content": cast("list[Json]", list(nodes))}


def diff_blocks(before: object, after: object) -> list[BlockDiff]:
    """The merged blocks of two documents."""
    old = [block for block in blocks_of(before) if block.text or block.markdown]
    new = [block for block in blocks_of(after) if block.text or block.markdown]
    if len(old) + len(new) > _MOST_BLOCKS:
        return [
            *(_one("removed", block) for block in old),
            *(_one("inserted", block) for block in new),
        ]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    found: list[BlockDiff] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found += [_one("same", block) for block in new[c:d]]
        else:
            found += _replaced(old[a:b], new[c:d])
    return found


def _replaced(old: list[Block], new: list[Block]) -> Iterator[BlockDiff]:
    """Pairs alike blocks in order; the rest came or went."""
    at = 0
    for block in new:
        partner = next((place for place in range(at, len(old)) if _alike(old[place], block)), None)
        if partner is None:
            yield _one("inserted", block)
            continue
        yield from (_one("removed", gone) for gone in old[at:partner])
        yield _pair(old[partner], block)
        at = partner + 1
    yield from (_one("removed", gone) for gone in old[at:])


def _alike(one: Block, other: Block) -> bool:
    if one.text == other.text:
        return True
    left, right = one.text[:_LONG].split(), other.text[:_LONG].split()
    if not left or not right:
        return False
    common = len(set(left) & set(right))
    return common / min(len(set(left)), len(set(right))) >= _ALIKE


def _pair(old: Block, new: Block) -> BlockDiff:
    role = (
        new.role if new.role == old.role else f"{old.role or _('Text')} → {new.role or _('Text')}"
    )
    if old.text != new.text:
        return BlockDiff("changed", role, tuple(diff_text(old.text, new.text)))
    return BlockDiff(
        "changed", role, tuple(diff_text(old.markdown, new.markdown)), is_formatting=True
    )


def _one(status: Status, block: Block) -> BlockDiff:
    kinds: dict[Status, Literal["same", "removed", "inserted"]] = {
        "removed": "removed",
        "inserted": "inserted",
    }
    return BlockDiff(status, block.role, (Segment(kinds.get(status, "same"), block.text),))
