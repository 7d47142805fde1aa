"""Published posts as frontends ask for them, read before Django sees the request.

The rules are those of `PublicPostViewSet`, which answers whatever is not answered here and says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from django.conf import settings
from django.http import QueryDict
from django.urls import Resolver404, resolve

from proofroom.core.caching.front_readers import ReadAnswer

if TYPE_CHECKING:
    from proofroom.core.caching.front_cache import FrontRequest

_LIST: Final = "/api/public/posts"
_ONE: Final = f"{_LIST}/"


@dataclass(frozen=True, slots=True)
class _Asked:
    query_params: Mapping[str, str]


class DeliveryReader:
    """Answers with published posts, one or a list of them."""

    scope = "public"
    route = "delivery"

    def takes(self, path: str) -> bool:
        is_own = path == _LIST or (path.startswith(_ONE) and "/" not in path[len(_ONE) :])
        return is_own and _are_delivered(settings.ROOT_URLCONF)

    def read(self, asked: FrontRequest) -> ReadAnswer | None:
        # Only who serves the site loads them.
        from content.api import delivery
        from content.api.cached_delivery import KIND, delivered_answer
        from proofroom.core.api.body import dumps
        from proofroom.core.caching.answer_cache import answers
        from proofroom.core.caching.content_tags import collect_tags
        from proofroom.core.caching.content_version import (
            leased_state,
            live_state,
            tags_changed_since,
        )

        meta = asked.meta
        query = str(meta.get("QUERY_STRING", ""))
        parameters = QueryDict(query.encode("latin-1"), encoding="utf-8")
        request = _Asked(cast("Mapping[str, str]", parameters))
        state = live_state() if meta.get("HTTP_COOKIE") else leased_state()
        answers.follow(state, tags_changed_since)
        with collect_tags() as tags:
            if asked.path == _LIST:
                body: bytes | None = dumps(delivery.list_posts(request, state))
            else:
                body = delivery.read_post(request, asked.path[len(_ONE) :])
        if body is None:
            return None
        return ReadAnswer(state, delivered_answer(body, state, tags), KIND)


@lru_cache(maxsize=10)
def _are_delivered(urls: str) -> bool:
    """Whether nothing of the site has taken the place of these addresses."""
    from content.api.delivery import PublicPostViewSet

    try:
        found = [resolve(path, urls).func for path in (_LIST, f"{_ONE}x")]
    except Resolver404:
        return False
    return all(getattr(view, "cls", None) is PublicPostViewSet for view in found)
