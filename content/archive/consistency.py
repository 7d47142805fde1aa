"""Consistency of the posts in one archive: no duplicate addresses, parent cycles and the like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from django.utils.translation import gettext as _

from proofroom.archive.consistency import DuplicateFinder, NumberedRow, row_error
from proofroom.core.json import Json
from proofroom.definitions import post_types

KIND: Final = "posts"


class _Place(NamedTuple):
    number: int
    title: Mapping[str, Json]
    above: str | None


def refuse_contradictions(rows: Iterator[NumberedRow]) -> None:
    """Raise `ArchiveError` for the first post that contradicts itself or another post."""
    seen = DuplicateFinder(KIND)
    places: dict[str, _Place] = {}
    variations: dict[str, _Place] = {}
    for number, row in rows:
        id_ = str(row.get("id"))
        seen.add(number, row, "id", [id_])
        document: Any = row.get("document")
        document = document if isinstance(document, dict) else {}
        post = document.get("post") if isinstance(document.get("post"), dict) else {}
        _check_modules(number, row, document, seen)
        titled = {"title": post.get("title")}
        if (original := row.get("variationOf")) is not None:
            seen.add(number, row, "variationOf + variation", [original, row.get("variation")])
            variations[id_] = _Place(number, titled, str(original))
            continue
        parent = post.get("parentId")
        places[id_] = _Place(number, titled, str(parent) if parent is not None else None)
        locale = row.get("locale")
        seen.add(number, row, "translationGroup + locale", [row.get("translationGroup"), locale])
        declared = post_types.get(str(row.get("type")))
        if declared is not None and post.get("slug"):
            below = [parent] if declared.hierarchical else []
            fields = "type + locale + parentId + slug" if below else "type + locale + slug"
            seen.add(number, row, fields, [row.get("type"), locale, *below, post["slug"]])
    for id_, place in variations.items():
        if place.above == id_:
            sentence = _("it is a variation of itself. “variationOf” must name its original.")
            raise row_error(KIND, place.number, place.title, sentence)
        if place.above in variations:
            sentence = _(
                "it is a variation of line %(line)s, which is a variation too. “variationOf” must "
                "name the original."
            )
            values = {"line": variations[str(place.above)].number}
            raise row_error(KIND, place.number, place.title, sentence % values)
    _check_circles(places)


def _check_modules(
    number: int, row: Mapping[str, Json], document: Mapping[str, Any], seen: DuplicateFinder
) -> None:
    modules = document.get("modules")
    own: set[tuple[str, str]] = set()
    for at, module in enumerate(modules if isinstance(modules, list) else (), start=1):
        if not isinstance(module, dict):
            continue
        names = ["postModuleId"] + ["moduleInstanceId"] * (module.get("scope") == "local")
        for name in names:
            id_ = str(module.get(name))
            if (name, id_) in own:
                sentence = _(
                    "two of its modules have the %(name)s %(id)s; the second is number %(number)s. Give each its own."
                )
                values = {"name": name, "id": id_[:60], "number": at}
                raise row_error(KIND, number, row, sentence % values)
            own.add((name, id_))
            seen.add(number, row, f"modules.{name}", [id_])
    terms = document.get("taxonomyTermIds")
    counted = Counter(str(term) for term in terms) if isinstance(terms, list) else Counter()
    for term, times in counted.most_common(1):
        if times > 1:
            sentence = _("it has the term %(id)s twice. Leave out one of the two.")
            raise row_error(KIND, number, row, sentence % {"id": term[:60]})


def _check_circles(places: Mapping[str, _Place]) -> None:
    """Raise `ArchiveError` if a post is its own ancestor. Visits each post once."""
    done: set[str] = set()
    for start in places:
        way: dict[str, None] = {}
        at: str | None = start
        while at is not None and at in places and at not in done and at not in way:
            way[at] = None
            at = places[at].above
        if at is not None and at in way:
            place = places[at]
            sentence = _(
                "this page is nested below itself (“parentId”). Choose another parent page, or "
                "none."
            )
            raise row_error(KIND, place.number, place.title, sentence)
        done |= way.keys()
