"""A variation promoted as it was seen: what it would change, and what moved since somebody looked."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from content.changes import diff
from content.layers import Layers
from content.models import Post, Revision
from content.posts import post_repository
from content.posts.reference_titles import references_of
from content.review.cards import CardGroup, cards_between
from content.review.labels import label_of, module_names
from content.variations.services import promote_variation, won_by
from proofroom.core.admin.permissions import actor_of, refusals_as_messages
from proofroom.core.errors import Conflict

_STALE = "stale_version"


@dataclass(frozen=True, slots=True)
class Moved:
    """What others changed in the post or in the variation, by the names that people know."""

    name: str
    labels: list[str]


def promoted(request: HttpRequest, post: Post) -> bool:
    """Whether that is done or refused for good; else something moved since the question was shown."""
    with refusals_as_messages(request):
        try:
            promote_variation(
                post_id=post.pk,
                variation_id=request.POST.get("value", ""),
                actor=actor_of(request),
                expected_version=_sent(request, "version"),
                expected_variation_version=_sent(request, "variation_version"),
            )
        except Conflict as error:
            if error.code != _STALE:
                raise
            return False
        messages.success(request, _("The post has the content of the variation now."))
    return True


def moved_since(request: HttpRequest, post: Post, row: Post) -> list[Moved]:
    """Of what was sent: each of the two that has another version now."""
    return [
        Moved(one.title, _labels(one, sent))
        for one, sent in (
            (post, _sent(request, "version")),
            (row, _sent(request, "variation_version")),
        )
        if one.version != sent
    ]


def changes_of(row: Post, layers: Layers) -> list[CardGroup]:
    """What a promotion would change of the live content."""
    after = won_by(row, layers.live)
    changes = diff(layers.live, after)
    return cards_between(layers.live, after, changes, references_of(changes, layers.live, after))


def _labels(post: Post, since: int) -> list[str]:
    rows = Revision.objects.filter(post=post, version__gt=since).order_by("version")
    changed = rows.values_list("changed_paths", flat=True) if since >= 0 else []
    document = post_repository.load(post)
    names = module_names(document)
    return list(dict.fromkeys(label_of(path, document, names) for row in changed for path in row))


def _sent(request: HttpRequest, name: str) -> int:
    """The version that the question was asked of; -1, which never matches, for nonsense."""
    text = request.POST.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else -1
