"""Translate into several languages: each translation is proposed on its own, whatever becomes of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from content.layers.state import post_not_found
from content.models import Layer, Post
from content.translations.translate import propose_translation, require_translatable
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound, RuleViolation
from proofroom.core.tools.progress import check_cancelled, report


@dataclass(frozen=True, slots=True)
class LanguageOutcome:
    """Of one language: the proposed translation, or why there is none.

    `existed`: the translation, still a proposal made from this post, was there already, as after a call that broke
    off. With an error, `post_id` is that of the translation in the way.
    """

    locale: str
    post_id: UUID | None = None
    existed: bool = False
    error: str = ""


def propose_translations(
    *,
    post_id: UUID | str,
    locales: Sequence[str],
    actor: Actor,
    source_layer: Layer | None = None,
) -> list[LanguageOutcome]:
    """Propose a translation into each language that has none.

    May be called again after it broke off: what is there is told, not made twice. Raises `NotFound`, `NotAllowed` or
    `RuleViolation` where no translation of the post could be made at all.
    """
    actor.require("posts.create")
    source = Post.objects.kept().filter(pk=post_id).first()
    if source is None:
        raise post_not_found(post_id)
    actor.require_inside(source.translation_group)
    require_translatable(source, source_layer)
    wanted = list(dict.fromkeys(locales))
    outcomes: list[LanguageOutcome] = []
    for locale in wanted:
        check_cancelled()
        outcomes.append(_proposed(source, locale, actor, source_layer))
        report(len(outcomes), len(wanted), locale)
    return outcomes


def _proposed(source: Post, locale: str, actor: Actor, layer: Layer | None) -> LanguageOutcome:
    try:
        made = propose_translation(
            post_id=source.pk, locale=locale, actor=actor, source_layer=layer
        )
    except (RuleViolation, Conflict, NotFound) as error:
        others = Post.objects.alive().filter(translation_group=source.translation_group)
        there = others.filter(locale=locale).first()
        if there is None:
            return LanguageOutcome(locale, error=error.message)
        if there.is_placeholder and there.translated_from_id == source.pk:
            return LanguageOutcome(locale, there.pk, existed=True)
        return LanguageOutcome(locale, there.pk, error=error.message)
    return LanguageOutcome(locale, made.post.pk)
