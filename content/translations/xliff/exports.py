"""Exports texts of posts as XLIFF for translators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _

from content.document.changes import ABSENT, same, value_at
from content.document.document import PostDocument
from content.document.labels import type_label
from content.models import CopyOrigin, Post, PostModule
from content.store import post_repository
from content.store.layer_state import open_layers
from content.store.scopes import visible_to
from content.store.translation_status import compare_hashes, hash_value
from content.translations.translate import require_translatable
from content.translations.xliff.inline import (
    CAPTION,
    Segments,
    alt_unit_id,
    has_same_codes,
    segments_of,
)
from content.translations.xliff.texts import texts_of, value_at_place
from content.translations.xliff.writer import FileToWrite, UnitToWrite, write_xliff
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.i18n.languages import language_name, require_site_language
from proofroom.core.site_urls import absolute

MAX_POSTS: Final = 500
STALE: Final = "proofroom:stale"
"""State of a translation whose source changed since."""


@dataclass(frozen=True, slots=True)
class XliffExport:
    """The document. `skipped`: posts that cannot be translated into the language, each with the reason."""

    content: bytes
    posts: int
    skipped: tuple[str, ...] = ()


def export_xliff(
    *, post_ids: Sequence[UUID | str], locale: str, actor: Actor, has_all: bool = False
) -> XliffExport:
    """Return the open texts of posts for their translation into a language; all texts with `has_all`.

    A post without open texts is left out. Raises `RuleViolation`, `NotFound`, `NotAllowed`.
    """
    actor.require_person("export texts for translation")
    actor.require("posts.translate")
    require_site_language(locale)
    if not 1 <= len(post_ids) <= MAX_POSTS:
        text = _("Choose 1 to %(most)s posts.") % {"most": MAX_POSTS}
        raise invalid("posts", text, code="too_many")
    seen = visible_to(Post.objects.kept(), actor).filter(pk__in=post_ids)
    posts = {post.pk: post for post in seen.select_related("translated_from")}
    if len(posts) < len(set(map(str, post_ids))):
        raise NotFound(_("Post not found."))
    sources = {post.locale for post in posts.values()}
    if len(sources) > 1:
        text = _("The posts are in several languages. Export each language separately.")
        raise invalid("posts", text, code="several_languages")
    files: list[FileToWrite] = []
    skipped: list[str] = []
    for post in posts.values():
        try:
            file = _file(post, locale, actor, has_all)
        except RuleViolation as error:
            if len(posts) == 1:
                raise
            skipped.append(f"{post.title}: {error.message}")
        else:
            files += [file] if file is not None else []
    if not files:
        text = _("Nothing is left to translate into %(language)s.")
        raise RuleViolation(text % {"language": language_name(locale)}, code="nothing_open")
    content = write_xliff(files, sources.pop(), locale)
    return XliffExport(content, len(files), tuple(skipped))


def find_translation(source: Post, locale: str, actor: Actor) -> tuple[Post, CopyOrigin] | None:
    """Return the translation of a post with its origin; None if there is none.

    Raises `RuleViolation` if the post cannot be translated, on `locale` if the post there is no translation of it.
    """
    if locale == source.locale:
        raise invalid("locale", _("The post is in this language already."))
    require_translatable(source)
    rows = visible_to(Post.objects.kept(), actor).filter(
        translation_group=source.translation_group, locale=locale
    )
    post = rows.first()
    if post is None:
        return None
    origin = CopyOrigin.objects.filter(post=post).first()
    if origin is None or post.translated_from_id != source.pk:
        text = _("“%(title)s” in that language is not a translation of this post.")
        raise invalid("locale", text % {"title": post.title}, code="other_source")
    return post, origin


def _file(source: Post, locale: str, actor: Actor, has_all: bool) -> FileToWrite | None:
    document = post_repository.load(source)
    found = find_translation(source, locale, actor)
    units = list(_units(document, found, has_all))
    if not units:
        return None
    notes = [f"{type_label(source.type)}: {source.title}"]
    if found is not None:
        rows = PostModule.objects.filter(post=found[0])
        placed = {str(pk) for pk in rows.values_list("pk", flat=True)}
        new = compare_hashes(found[0], found[1], document, placed).new_modules
        if new:
            text = _(
                "The translation lacks %(number)s modules of the source. Add them there first."
            )
            notes.append(text % {"number": len(new)})
    return FileToWrite(str(source.pk), absolute(source.path), notes, units)


def _units(
    source: PostDocument, found: tuple[Post, CopyOrigin] | None, has_all: bool
) -> Iterator[UnitToWrite]:
    stale: set[str] = set()
    untranslated: set[str] = set()
    origin = found[1] if found else None
    review: PostDocument | None = None
    live: PostDocument | None = None
    if found is not None:
        layers = open_layers(found[0])
        live, review = layers.live, layers.review.document
        compared = compare_hashes(found[0], found[1], source, set(live.order))
        stale, untranslated = set(compared.stale_paths), set(compared.untranslated_paths)
    for text in texts_of(source).values():
        path = target_path(text.path, origin) if origin is not None else text.path
        if path is None:
            continue
        whole = value_at(source, text.path)
        hashed = hash_value(None if whole is ABSENT else whole)
        segments = segments_of(text.value, text.unit_id)
        notes = [text.label]
        if text.limit:
            notes.append(_("At most %(limit)s characters.") % {"limit": text.limit})
        present = value_at(review, path) if review is not None else ABSENT
        is_staged = live is not None and not same(present, value_at(live, path))
        is_stale = path in stale
        is_open = origin is None or ((is_stale or path in untranslated) and not is_staged)
        if not is_open and not has_all:
            continue
        translated = value_at_place(present, text.place)
        if origin is None or (path in untranslated and not is_staged):
            translated = None
        targets = segments_of(translated, text.unit_id) if translated is not None else Segments()
        # A translation of another structure cannot be shown segment by segment.
        has_target = len(targets.sources) == len(segments.sources) and (
            has_same_codes(segments, targets)
        )
        state = _state(has_target=has_target, is_stale=is_stale, is_staged=is_staged)
        sub_state = STALE if is_stale and has_target else ""
        written = targets.sources if has_target else ()
        yield UnitToWrite(
            text.unit_id, text.label, hashed, segments, notes, written, state, sub_state
        )
        alts = targets.alts if has_target else {}
        for code_id, alt in segments.alts.items():
            own = alts.get(code_id, alt)
            # The text of the source is still to be translated.
            is_own = own != alt
            name = _("Caption") if code_id.endswith(CAPTION) else _("Alternative text")
            label = f"{text.label} › {name}"
            yield UnitToWrite(
                alt_unit_id(text.unit_id, code_id),
                label,
                hashed,
                segments_of(alt),
                [label],
                segments_of(own).sources if is_own else (),
                state if is_own else "initial",
                sub_state if is_own else "",
            )


def _state(*, has_target: bool, is_stale: bool, is_staged: bool) -> str:
    if not has_target:
        return "initial"
    return "translated" if is_stale or is_staged else "final"


def target_path(path: str, origin: CopyOrigin) -> str | None:
    """Return the path in a translation of a path in its source; None if it lacks the module."""
    if not path.startswith("modules."):
        return path
    _modules, module_id, rest = path.split(".", 2)
    own = origin.modules.get(module_id)
    return f"modules.{own}.{rest}" if own else None
