"""The state of a post has one name on every page of the admin."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from content.models import Post
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/content/post/"
STATES = {
    "draft": ("Draft", {"status": "draft", "published_at": None}),
    "scheduled": ("Scheduled", {"status": "draft", "publish_at": timezone.now() + timedelta(9)}),
    "unpublished": ("Unpublished", {"status": "draft", "published_at": timezone.now()}),
    "published": ("Published", {"status": "published"}),
    "archived": ("Archived", {"status": "archived"}),
}


def test_every_page_names_a_state_alike(signed_in: SignedIn) -> None:
    client, posts = signed_in("admin"), {}
    for state, (_label, columns) in STATES.items():
        posts[state] = make.post(f"About {state}", type="page", slug=state, excerpt="tea")
        Post.objects.filter(pk=posts[state].pk).update(**columns)
    ids = [str(post.pk) for post in posts.values()]
    chosen = {"action": "bulk_edit", "_selected_action": ids}
    with_agent = {"action": "run_agent", "_selected_action": ids}
    shared = {
        "list": client.get(LIST),
        "tree": client.get(f"{LIST}tree/"),
        "home": client.get("/admin/"),
        "bulk edit": client.post(LIST, chosen, follow=True),
        "agents": client.post(LIST, with_agent, follow=True),
        "translations": client.get("/admin/content/translations/?type=page"),
    }
    for page, answer in shared.items():
        html = answer.content.decode()
        found = set(re.findall(r'badge badge-(\w+)"[^>]*>\s*([A-Z]\w+)', html))
        for state, (label, _columns) in STATES.items():
            assert (state, label) in found, (page, state, found)

    for state, (label, _columns) in STATES.items():
        pk = posts[state].pk
        for page in ("change", "revisions", "preview", "checks"):
            html = client.get(f"{LIST}{pk}/{page}/").content.decode()
            assert re.search(rf"badge-{state}[^>]*>\s*{label}", html), (page, state)
        query = {"kind": "post-reference", "q": f"About {state}"}
        assert [
            one["status"] for one in client.get(f"{LIST}targets/", query).json()["results"]
        ] == [label]
        # The filter of the list has exactly the posts with the label.
        rows = client.get(f"{LIST}?status__exact={state}").content.decode()
        assert [one for one in ids if f"/{one}/change/" in rows] == [str(pk)], state


def test_a_preview_says_live_only_of_what_visitors_see(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    for status, label, german in (
        ("draft", "Draft", "Entwurf"),
        ("published", "Live", "Veröffentlicht"),
    ):
        post = make.post(f"About {status}", slug=status, status=status, locale="de")
        address = f"{LIST}{post.pk}"
        make.staged(post, {"excerpt": "Waiting"})

        preview = client.get(f"{address}/preview/?layer=source").content.decode()
        frame = client.get(f"{address}/preview/page/?layer=source").content.decode()
        created = {"do": "create", "layer": "source", "expiresInHours": "1"}
        links = client.post(f"{address}/previews/", created).content.decode()
        link = re.findall(r"/preview/[\w-]{43}", links)[0]

        assert re.findall(r'aria-current="[^"]*">(Live|Draft)', preview) == [label]
        assert f'title="Preview of {label}"' in preview
        assert f'<option value="source" selected>{label}</option>' in preview
        assert f"<strong>{label}</strong>" in links
        assert re.findall(r'"preview-bar"[^>]*>(\w+: \w+)', frame) == [f"Preview: {label}"]
        # The page is in the language of the post.
        public = Client().get(link).content.decode()
        assert re.findall(r'"preview-bar"[^>]*>(\w+: \w+)', public) == [f"Vorschau: {german}"]
        for page in ("change", "checks", "preview"):
            html = client.get(f"{address}/{page}/").content.decode()
            assert f">{'Live' if label == 'Draft' else 'Draft'}</a>" not in html, page
