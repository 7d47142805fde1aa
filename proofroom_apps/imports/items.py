"""What a source is read into: the same items whatever the source, named by the ids that they have there.

Addresses of pictures and links stand in the content as the source has them; the writer puts those of this site there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from django.utils.translation import gettext as _

from proofroom.core.json import Json

Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of the report about something of the source; `place` is a file, an address or a title there."""

    place: str
    message: str
    severity: Severity = "warning"


_NAMES_MAX: Final = 1500
"""Characters of names in one line of the report."""


def counted_remarks(
    place: str, message: str, counts: Mapping[str, int], severity: Severity = "warning"
) -> Iterator[Remark]:
    """Remarks that name what was counted in place of `%(names)s`: as many as it takes to cut nothing off."""
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
    """What a report says of a text: what was not understood, nothing was made of, or is kept in a simpler form."""
    kinds: tuple[tuple[Mapping[str, int], str, Severity], ...] = (
        (unknown, _("Not recognised and kept as text: %(names)s."), "warning"),
        (left_out, _("Left out: %(names)s."), "warning"),
        (simpler, _("Kept in a simpler form: %(names)s."), "info"),
    )
    for counts, message, severity in kinds:
        yield from counted_remarks(place, message, counts, severity)


@dataclass(frozen=True, slots=True)
class TermItem:
    """A term. `parent_id` is the id of another one of the same taxonomy; without a slug one is made from the name."""

    source_id: str
    taxonomy: str
    name: str
    slug: str = ""
    parent_id: str | None = None


@dataclass(frozen=True, slots=True)
class MediaItem:
    """A file of the library of the source."""

    address: str
    alt_text: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class ModuleItem:
    """A module. A media field holds the address of its file, a link that of its target, as the source has it."""

    type: str
    props: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class PostItem:
    """A post. `place` names it in the report.

    `base` is the address that relative ones in it follow, `addresses` are those that lead to it in the source: links
    to them become links to the post. From `old_paths` visitors are redirected.
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
    """Taxonomy and id of each."""
    featured_image: str = ""
    base: str = ""
    addresses: tuple[str, ...] = ()
    old_paths: tuple[str, ...] = ()
    published_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    author_email: str = ""
    """Of the account here that is the author of a new post."""
    translation_group: str = ""
    """Posts of one group and different locales are translations of each other."""
    remarks: tuple[Remark, ...] = ()
    problem: str = ""
    """Why its content cannot be read; it is not imported then."""


@dataclass(frozen=True, slots=True)
class MenuEntryItem:
    """A link of a menu: to a post by its id, else to an address."""

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
    """A path of the source that leads to a post of it, or to an address."""

    from_path: str
    to_address: str = ""
    to_post: str = ""


Item = TermItem | MediaItem | PostItem | MenuItem | RedirectItem | Remark
