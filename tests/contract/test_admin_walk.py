"""Every URL of the admin × every role, read from the admin site.

A new page fails here until it is in the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.contrib import admin
from django.urls import URLResolver

from content.models import Layer, Post
from proofroom.accounts import sign_in_urls
from proofroom.accounts.models import User
from proofroom.accounts.services.invitations import create_invitation
from proofroom.notifications.models import Channel
from proofroom.notifications.services import unsubscribe_token
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

PEOPLE: Final = frozenset({"admin", "editor", "translator"})
EDITORS: Final = frozenset({"admin", "editor"})
ADMIN: Final = frozenset({"admin"})
NOBODY: Final[frozenset[str]] = frozenset()

# The longest matching prefix of a URL determines its roles; None is public.
WHO: Final[dict[str, frozenset[str] | None]] = {
    "": PEOPLE,
    "login/": None,
    "logout/": None,
    "language/": None,
    "account/": PEOPLE,
    "password_change/": PEOPLE,
    "jsi18n/": PEOPLE,
    "r/": NOBODY,
    "design/": NOBODY,  # in development only
    "palette/": PEOPLE,
    "site-name/": EDITORS,
    "undo/": PEOPLE,
    "notifications/": PEOPLE,
    "notifications/unsubscribe/": None,
    "inbox/": PEOPLE,
    "inbox/batches/": PEOPLE,
    "help/": PEOPLE,
    "auth/": NOBODY,
    "proofroom_core/": ADMIN,
    "proofroom_accounts/": ADMIN,
    "media/": PEOPLE,
    "media/asset/alt-texts/": EDITORS,
    "media/asset/bulk/": EDITORS,
    "media/asset/check/": EDITORS,
    "media/asset/import/": EDITORS,
    "media/asset/upload/": EDITORS,
    "media/asset/<object_id>/crop/": EDITORS,
    "media/asset/<object_id>/delete/": EDITORS,
    "media/asset/<object_id>/describe/": EDITORS,
    "media/asset/<object_id>/replace/": EDITORS,
    "media/asset/<object_id>/variants/": EDITORS,
    "content/post/": PEOPLE,
    "content/post/add/": EDITORS,
    "content/post/trash/": EDITORS,
    "content/post/tree/copy/": EDITORS,
    "content/post/tree/move/": EDITORS,
    "content/post/<post_id>/change/picker/": EDITORS,
    "content/post/<post_id>/delete/": EDITORS,
    "content/post/<post_id>/preview/": PEOPLE,
    "content/post/<post_id>/previews/": EDITORS,
    "content/post/<post_id>/reviewers/": EDITORS,
    "content/post/<post_id>/review/edit/": EDITORS,
    "content/post/<post_id>/revisions/<revision_id>/restore/": EDITORS,
    "proofroom_feedback/feedback/": PEOPLE,
    "proofroom_briefs/brief/": PEOPLE,
    "proofroom_briefs/brief/add/": EDITORS,
    "proofroom_briefs/brief/<object_id>/delete/": EDITORS,
    "proofroom_briefs/brief/<brief_id>/versions/<version>/restore/": EDITORS,
    "proofroom_disclosure/": ADMIN,
    "proofroom_imports/": EDITORS,
    "proofroom_imports/exportrun/": ADMIN,
    "proofroom_privacy/": ADMIN,
    "proofroom_imports/exportschedule/": ADMIN,
    "proofroom_menus/menu/": EDITORS,
    "proofroom_snippets/": EDITORS,
    "content/post/<post_id>/change/pasted/": EDITORS,
    "content/modulegroup/": ADMIN,
    "content/moduleinstance/": EDITORS,
    "content/postjob/": EDITORS,
    "content/replacement/": EDITORS,
    "content/shared/": EDITORS,
    "calendar/": PEOPLE,
    "comments/": PEOPLE,
    "proofroom_releases/release/": EDITORS,
    "approval/": ADMIN,
    "system/": ADMIN,
    "proofroom_taxonomies/term/": EDITORS,
    "content/translations/": PEOPLE,
    "content/urlpattern/": EDITORS,
    "seo/": EDITORS,
    "seo/search-engines/": ADMIN,
    "seo/trace/": ADMIN,
    "agents_app/agentrun/": EDITORS,
    "agents_app/agentswitch/": EDITORS,
    "agents_app/agentswitch/data-flows/": ADMIN,
    "agents_app/agentswitch/<agent_id>/prompts/": ADMIN,
    "agents_app/agentswitch/<agent_id>/limit/": ADMIN,
    "agents_app/agentswitch/<agent_id>/switch/": ADMIN,
    "agents_app/agentswitch/<agent_id>/try/": ADMIN,
    "agents_app/agentswitch/<agent_id>/versions/": ADMIN,
    "agents_app/evaluation/": ADMIN,
    "quality/": ADMIN,
    "agents_app/agentrun/<run_id>/transcript/": ADMIN,
    "agents_app/agentbatch/": EDITORS,
    "agents_app/agentbatch/<batch_id>/again/": ADMIN,
    "agents_app/agentbatch/<batch_id>/cancel/": ADMIN,
    "agents_app/agentbatch/<batch_id>/revert/": ADMIN,
    "agents_app/aisettings/": ADMIN,
    "agents_app/ask/": ADMIN,
    "agents_app/bulk/": ADMIN,
    "agents_app/field/": EDITORS,
    "analytics/": EDITORS,
    "forms/": EDITORS,
    "proofroom_webhooks/": ADMIN,
    "mcp/": EDITORS,
    "oauth/": PEOPLE,
    "proofroom_oauth/": ADMIN,
    "mcp_bridge/": ADMIN,
}


def _walk(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    for item in patterns:
        text = prefix + str(item.pattern)
        if isinstance(item, URLResolver):
            yield from _walk(item.url_patterns, text)
        elif "(?P" not in text:  # the list of an app, and what is not there at all
            yield re.sub(r"<\w+:", "<", text)


ADDRESSES: Final = sorted({*_walk(admin.site.urls[0]), *_walk(sign_in_urls.urlpatterns)})


def who(address: str) -> frozenset[str] | None:
    return WHO[max((known for known in WHO if address.startswith(known)), key=len)]


def filled(address: str, post: Post) -> str:
    """Return the path with ids of existing objects, where known."""
    revision = post.revisions.first()
    assert revision is not None
    names = {
        "post_id": str(post.pk),
        "revision_id": str(revision.pk),
        "object_id": object_id(address),
    }
    if "<secret>" in address:
        invited = {"email": "invited@example.com", "role": "editor"}
        names["secret"] = create_invitation(**invited, actor=make.actor("admin"))[1]
    if address.startswith("notifications/unsubscribe/"):
        names["token"] = unsubscribe_token(make.user("editor"), Channel.DIGEST, ["review.decided"])
    return "/admin/" + re.sub(
        r"<(\w+)>",
        lambda found: names.get(found[1], "00000000-0000-4000-8000-000000000000"),
        address,
    )


def object_id(address: str) -> str:
    if "siterole" in address:
        return "editor"
    return str(User.objects.get(username="editor").pk) if "user" in address else "1"


def test_every_part_of_the_admin_is_in_the_table() -> None:
    for address in ADDRESSES:
        known = max((known for known in WHO if address.startswith(known)), key=len)
        assert known or address == "", f"{address} has no line in the table"


@pytest.mark.parametrize("address", ADDRESSES)
def test_each_role_opens_what_it_may(address: str) -> None:
    post = make.post()
    make.user("editor")
    make.staged(post, {"excerpt": "Waits"})
    make.staged(post, {"title": "Waits"}, layer=Layer.REVIEW)
    path, before = filled(address, post), make.live_hash()

    for role in (None, "ai_agent", "translator", "editor", "admin"):
        assert_opens_as_it_may(address, path, role)
    assert make.live_hash() == before


def assert_opens_as_it_may(address: str, path: str, role: str | None) -> None:
    allowed = who(address)
    client = ApiClient(role)

    response = client.get(path)

    if allowed is None:
        assert response.status_code in (200, 302, 405)
    elif role in (None, "ai_agent"):
        assert response.status_code == 302, (address, role)
        assert response["Location"].startswith("/admin/login/?next=")
    elif role not in allowed:
        if response.status_code == 302:  # to the thing's own page, or home where it is not there
            response = client.get(path, follow=True)
        is_home = response.request["PATH_INFO"] == "/admin/"
        # Hidden and missing objects look alike; a POST-only URL answers no GET.
        assert is_home or response.status_code in (403, 404, 405), (address, role, response)
        assert is_home or b"Waits" not in response.content
    else:
        assert response.status_code < 500
        if "object_id" not in address and not address.endswith("/add/"):
            assert response.status_code != 403, (address, role)
