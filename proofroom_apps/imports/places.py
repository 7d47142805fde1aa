"""Fragments of pages: names of headings in the source, and their ids on the site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from proofroom.core.search import word_positions
from proofroom.definitions import find_module
from proofroom.definitions.props import values_in
from proofroom.definitions.richtext.html import unique_heading_id
from proofroom.definitions.richtext.nodes import Node, attributes, children, gathered, kind
from proofroom_apps.imports.content_source import Reader
from proofroom_apps.imports.html_reader import SOURCE_IDS
from proofroom_apps.imports.items import ModuleItem, PostItem

_TOP: Final = frozenset({"", "top"})


@dataclass(slots=True)
class PagePlaces:
    """The headings of a page. An empty id is the top of the page."""

    ids: dict[str, str] = field(default_factory=dict)
    """Ids on the site by ids in the source."""
    words: dict[str, str] = field(default_factory=dict)
    """Ids on the site by letters and digits of the headings, with a number for repeated ones."""

    def find(self, fragment: str) -> str | None:
        """Return the id on the site of a heading that a fragment names by any program's rules; None if not found."""
        name = unquote(fragment)
        if name in self.ids:
            return self.ids[name]
        # Obsidian includes the parent headings in a fragment.
        for words in (name, name.rpartition("#")[2]):
            found = self.words.get(_letters(words))
            if found is not None:
                return found
        return "" if name in _TOP else None


def _letters(text: str) -> str:
    """Return the part of a text that all id rules share: no case, accents or punctuation."""
    return "".join(word for _, _, word in word_positions(text))


def places_of(title: str, modules: Sequence[ModuleItem]) -> PagePlaces:
    """Return the headings of a post with this title and these modules."""
    places, taken, seen = PagePlaces(), set[str](), Counter[str]()
    if words := _letters(title):
        places.words[words] = ""
    by_rule: dict[str, str] = {}
    for module in modules:
        for _name, field_type, value in values_in(find_module(module.type).Props, module.props):
            if field_type != "richtext" or not isinstance(value, Mapping):
                continue
            for heading in _headings(value):
                text = gathered(heading)
                here = unique_heading_id(text, taken)
                ids = attributes(heading).get(SOURCE_IDS)
                for one in ids if isinstance(ids, list) else ():
                    places.ids.setdefault(str(one), here)
                words = _letters(text)
                number = seen[words]
                seen[words] += 1
                # The title leads to the top of the page, unless a heading has the same words.
                if not number and places.words.get(words) == "":
                    places.words[words] = here
                # Most programs number the second heading 1, this site 2.
                places.words.setdefault(f"{words}{number}" if number else words, here)
                by_rule.setdefault(_letters(here), here)
    # Last, so that names by the rules of other programs come first.
    for name, here in by_rule.items():
        places.words.setdefault(name, here)
    return places


def _headings(node: Node) -> Iterator[Node]:
    for child in children(node):
        if kind(child) == "heading":
            yield child
        else:
            yield from _headings(child)


def read_places(
    reader: Reader, wanted: frozenset[str], tick: Callable[[], None]
) -> dict[str, PagePlaces]:
    """Return the headings of each post of a source, by its source id."""
    found: dict[str, PagePlaces] = {}
    for number, item in enumerate(reader.items(wanted) if wanted else ()):
        if number % 100 == 0:
            tick()
        if isinstance(item, PostItem) and item.source_id not in found:
            found[item.source_id] = places_of(item.title, item.modules)
    return found
