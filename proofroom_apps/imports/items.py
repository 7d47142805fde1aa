"""Items that every source is read into. They are named by their ids in the source.

Addresses of pictures and links are as in the source; the writer replaces them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from django.utils.translation import gettext as _

from proofroom.core.json import Json
from proofroom.core.slugs import SLUG_LENGTH, slug_of, spells_out
from proofroom.core.title_slugs import slug_of_title

Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of the report about a part of the source. `place` is a file, an address or a title in the source."""

    place: str
    message: str
    severity: Severity = "warning"


_NAMES_MAX: Final = 1500
"""Maximum number of characters of names in one line of the report."""


def counted_remarks(
    place: str, message: str, counts: Mapping[str, int], severity: Severity = "warning"
) -> Iterator[Remark]:
    """Yield remarks with the counted names in place of `%(names)s`, as many as needed to list all."""
    names: list[str] = []
    for name, number in sorted(counts.items()):
        if number <= 0:
            continue
        if names and sum(map(len, names)) + len(name) > _NAMES_MAX:
            yield Remark(place, message % {"names": ", ".join(names)}, severity)
            names = []
        names.append(f"{name} ({number})")
    if names:
        yield Remark(place, message % {"names": ", ".join(names)}, severity)


def content_remarks(
    place: str,
    *,
    unknown: Mapping[str, int],
    left_out: Mapping[str, int],
    simpler: Mapping[str, int],
) -> Iterator[Remark]:
    """Yield remarks on the parts of a text that were unknown, left out or simplified."""
    kinds: tuple[tuple[Mapping[str, int], str, Severity], ...] = (
        (unknown, _("Not recognised and kept as text: %(names)s."), "warning"),
        (left_out, _("Left out: %(names)s."), "warning"),
        (simpler, _("Kept in a simpler form: %(names)s."), "info"),
    )
    for counts, message, severity in kinds:
        yield from counted_remarks(place, message, counts, severity)


@dataclass(frozen=True, slots=True)
class SourceSlug:
    """The slug of an item. `is_spelled_out`: it keeps all that distinguishes the slug or name in the source."""

    text: str
    is_spelled_out: bool

    @classmethod
    def of(cls, slug: str, name: str, locale: str, limit: int = SLUG_LENGTH) -> SourceSlug:
        """Return the slug as it is in the source, else the one for the name."""
        plain = slug_of(slug or name, limit)
        text = plain if slug else slug_of_title(name, locale, limit)
        return cls(text, text == plain and spells_out(slug or name, limit))


@dataclass(frozen=True, slots=True)
class TermItem:
    """A term. `parent_id` is the id of a term in the same taxonomy. Without a slug, one is made from the name."""

    source_id: str
    taxonomy: str
    name: str
    slug: str = ""
    parent_id: str | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class MediaItem:
    """A file in the source's library."""

    address: str
    alt_text: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class ModuleItem:
    """A module. Media fields contain file addresses, links contain targets, both as in the source."""

    type: str
    props: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class PostItem:
    """A post. `place` names it in the report.

    Relative addresses in it are resolved against `base`. `addresses` are its addresses in the source: links to them
    become links to the post. `old_paths` are redirected to it.
    """

    source_id: str
    place: str
    type: str
    locale: str
    title: str
    slug: str
    parent_id: str | None = None
    fields: Mapping[str, Json] = field(default_factory=dict)
    modules: tuple[ModuleItem, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    """Taxonomy and id of each term."""
    featured_image: str = ""
    base: str = ""
    addresses: tuple[str, ...] = ()
    old_paths: tuple[str, ...] = ()
    published_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    author_email: str = ""
    """E-mail address of the account that becomes the author of a new post."""
    translation_group: str = ""
    """Group key: posts of one group in different locales are translations of each other."""
    remarks: tuple[Remark, ...] = ()
    problem: str = ""
    """Reason why the content cannot be read; the post is then not imported."""


@dataclass(frozen=True, slots=True)
class MenuEntryItem:
    """A menu link: to a post by its id, else to an address."""

    label: str
    address: str = ""
    post_id: str | None = None
    entries: tuple[MenuEntryItem, ...] = ()


@dataclass(frozen=True, slots=True)
class MenuItem:
    source_id: str
    name: str
    slug: str
    locale: str
    entries: tuple[MenuEntryItem, ...] = ()


@dataclass(frozen=True, slots=True)
class RedirectItem:
    """A path of the source that redirects to one of its posts, or to an address."""

    from_path: str
    to_address: str = ""
    to_post: str = ""


Item = TermItem | MediaItem | PostItem | MenuItem | RedirectItem | Remark
