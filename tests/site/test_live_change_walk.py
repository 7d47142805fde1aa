"""The walk of live changes: webhooks hear of each, with the tags of every answer that it changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from typing import Any, Final
from uuid import UUID

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from content.layers.schedule import schedule_approval
from content.migration_operations.derived_data import follow_content_migrations
from content.models import ContentMigration, Layer, Post, ScheduledApproval
from content.modules.global_modules import edit_global
from content.paths.url_patterns import create_pattern
from content.posts.create import create_post
from content.posts.publish import set_status
from content.posts.schedule import run_due_dates
from content.posts.trash import delete_post, restore_post
from content.posts.variations import create_variation
from content.store.content_links import update_global_links
from content.store.digest import digest_of
from content.store.live_changes import live_kinds
from content.store.traffic import change_variation
from forms.services.definitions import update_form
from media.models import Asset
from media.services.files import delete_asset, replace_file
from media.services.update import update_asset
from media.services.variants import request_variants
from proofroom.archive.event_kinds import IMPORTED
from proofroom.core import outbox
from proofroom.core.caching.answer_cache import answers
from proofroom.core.event_kinds import CONTENT_CHANGED, LIVE_CHANGED, SITE_CHANGED
from proofroom.core.models import Event, LiveChange
from proofroom.disclosure.services import change_disclosure
from proofroom.taxonomies.services import change_term, create_term
from proofroom.webhooks.models import Delivery
from proofroom_apps.embeds.facts_fetch import store_facts
from proofroom_apps.embeds.models import EmbedFacts
from proofroom_apps.embeds.oembed import Facts
from proofroom_apps.embeds.services import key_of
from proofroom_apps.menus.services import change_menu, create_menu
from seo.services.redirects import delete_redirect
from tests import make
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db
Work = Callable[[], object]


def admin() -> Any:
    return make.actor("admin")


def status(before: str, after: str) -> Work:
    post = make.post("Other", slug="other", status=before)
    return lambda: set_status(post_id=post.pk, status=after, actor=admin())


def create() -> Work:
    return lambda: make.post("Second", slug="second")


def create_below() -> Work:
    parent = page("about")
    return lambda: page("team", parent)


def create_listed() -> Work:
    make.added_module(page("about"), type="blog-list", props={"count": 3})
    return create()


def edit() -> Work:
    post = make.post()
    return lambda: make.edited(post, {"title": "New"})


def translate() -> Work:
    post = make.post()
    return lambda: make.post("Kaffee", slug="kaffee", locale="de", translation_of=post)


def move_tree() -> Work:
    parent = page("about")
    page("team", parent)
    return lambda: make.edited(parent, {"slug": "us"})


def page(slug: str, parent: Post | None = None) -> Post:
    values: dict[str, Any] = {"title": slug.title(), "slug": slug}
    if parent is not None:
        values["parentId"] = str(parent.pk)
    return create_post(actor=admin(), type="page", fields=values, status="published")


def pattern() -> Work:
    make.post()
    return lambda: create_pattern(
        actor=admin(), type="blog", locale="en", pattern="/journal/{slug}"
    )


def delete() -> Work:
    post = make.post()
    return lambda: delete_post(post_id=post.pk, actor=admin())


def restore() -> Work:
    post = make.post()
    delete_post(post_id=post.pk, actor=admin())
    return lambda: restore_post(post_id=post.pk, actor=admin())


def schedule() -> Work:
    post = make.post(status="draft")
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now() - timedelta(minutes=1))
    return lambda: run_due_dates(make.actor("admin", via="system"))


def expire() -> Work:
    post = make.post()
    Post.objects.filter(pk=post.pk).update(unpublish_at=timezone.now() - timedelta(minutes=1))
    return lambda: run_due_dates(make.actor("admin", via="system"))


def change_on_schedule() -> Work:
    post = make.post()
    make.staged(post, {"title": "New title"}, layer=Layer.REVIEW)
    schedule_approval(
        post_id=post.pk,
        actor=admin(),
        digest=digest_of(make.layers(post).review.changes),
        at=timezone.now() + timedelta(hours=1),
    )
    ScheduledApproval.objects.update(at=timezone.now() - timedelta(minutes=1))
    return lambda: run_due_dates(make.actor("admin", via="system"))


def variation(*, running: bool, then: dict[str, Any]) -> Work:
    post = make.post()
    made = create_variation(post_id=post.pk, variation="B", actor=admin())
    if running:
        change_variation(post_id=post.pk, variation_id=made.pk, actor=admin(), running=True)
    return lambda: change_variation(post_id=post.pk, variation_id=made.pk, actor=admin(), **then)


def menu() -> Work:
    items = [{"type": "custom", "label": "Shop", "url": "/shop"}]
    made = create_menu(actor=admin(), name="Main", slug="main", locale="en", items=items)
    return lambda: change_menu(menu_id=made.pk, actor=admin(), name="Main", items=[])


def first_menu() -> Work:
    make.post()
    items = [{"type": "custom", "label": "Shop", "url": "/shop"}]
    return lambda: create_menu(actor=admin(), name="Main", slug="main", locale="en", items=items)


def renamed_menu() -> Work:
    items = [{"type": "custom", "label": "Shop", "url": "/shop"}]
    made = create_menu(actor=admin(), name="Main", slug="main", locale="en", items=items)
    return lambda: change_menu(menu_id=made.pk, actor=admin(), slug="other")


def term() -> Work:
    made = make.term("Coffee")
    make.post(taxonomyTermIds=[str(made.pk)])
    return lambda: change_term(term_id=made.pk, actor=admin(), name="Tea")


def renamed_term() -> Work:
    made = make.term("Coffee")
    make.post(taxonomyTermIds=[str(made.pk)])
    return lambda: change_term(term_id=made.pk, actor=admin(), name="Tea", slug="tea")


def listed_in_a_module() -> Work:
    make.added_module(page("news"), type="blog-list", props={"heading": "News"})
    return lambda: make.post("Second", slug="second")


def linked_from_a_text() -> Work:
    make.post("Linking", slug="linking", markdown="See [this](/blog/second).")
    return lambda: make.post("Second", slug="second")


def linked_from_a_global_module() -> Work:
    shared = make.global_module("letter", ctaLabel="More", ctaUrl="/blog/second")
    update_global_links([(shared, None)])
    make.placed(make.post(), shared)
    return lambda: make.post("Second", slug="second")


def moved_to_a_linked_address() -> Work:
    make.post("Linking", slug="linking", markdown="See [this](/blog/second).")
    post = make.post("Other", slug="other")
    return lambda: make.edited(post, {"slug": "second"})


def published_above_a_page() -> Work:
    parent = page("about")
    page("team", parent)
    set_status(post_id=parent.pk, status="draft", actor=admin())
    return lambda: set_status(post_id=parent.pk, status="published", actor=admin())


def first_home_page() -> Work:
    page("about")
    return lambda: page("home")


def post_in_place_of_a_fallback() -> Work:
    make.post("Second", slug="second")
    return lambda: make.post("Zweiter", slug="second", locale="de")


def first_child() -> Work:
    parent = page("about")
    return lambda: page("team", parent)


def shared_module() -> Work:
    make.placed(make.post(), make.global_module("letter"))
    return lambda: edit_global(actor=admin(), slug="letter", props={"title": "Changed"})


def shared_module_of_a_variation() -> Work:
    post = make.post()
    made = create_variation(post_id=post.pk, variation="B", actor=admin())
    change_variation(post_id=post.pk, variation_id=made.pk, actor=admin(), running=True)
    made.refresh_from_db()
    make.placed(made, make.global_module("letter"))
    return lambda: edit_global(actor=admin(), slug="letter", props={"title": "Changed"})


def last_use(*, featured: bool) -> Work:
    values = {"featuredMediaId": str(make.image(alt_text="A cup").pk)} if featured else {}
    post = make.post(**values)
    if not featured:
        make.placed(post, make.global_module("letter"))
    return lambda: set_status(post_id=post.pk, status="draft", actor=admin())


def publish_over_a_redirect() -> Work:
    make.redirect("/blog/second", "/blog")
    return create()


def hide_a_target() -> Work:
    post = make.post()
    make.redirect("/old", post.path)
    return lambda: set_status(post_id=post.pk, status="draft", actor=admin())


def form() -> Work:
    make.form()
    make.added_module(make.post(), type="form", props={"form": "contact"})
    return lambda: update_form(
        slug="contact", locale="en", values={"title": "Ask us"}, actor=admin()
    )


def redirect(*, is_deleted: bool) -> Work:
    if not is_deleted:
        return lambda: make.redirect("/old", "/blog")
    made = make.redirect("/old", "/blog")
    return lambda: delete_redirect(redirect_id=made.pk, actor=admin())


def media(work: Callable[[UUID], object]) -> Work:
    asset = make.image(alt_text="A cup")
    make.post(featuredMediaId=str(asset.pk))
    return lambda: work(asset.pk)


def migrate() -> Work:
    post = make.post()
    ContentMigration.objects.create(type="callout", post_ids=[str(post.pk)], changed={"modules": 1})
    return follow_content_migrations


def disclose() -> Work:
    make.post()
    return lambda: change_disclosure(actor=admin(), types=["blog"])


def embed_facts() -> Work:
    url = "https://vimeo.com/76979871"
    make.added_module(make.post(), type="embed", props={"url": url})
    row, _ = EmbedFacts.objects.get_or_create(key=key_of(url), defaults={"url": url})
    return lambda: store_facts(row, "Vimeo", Facts("The New Vimeo Player", "", 16, 9, None))


def recorded(name: str) -> Work:
    make.post()
    return lambda: outbox.record(name, actor=admin(), payload={})


OPERATIONS: Final[dict[str, tuple[Callable[[], Work], str]]] = {
    "create": (create, "post"),
    "create below a page": (create_below, "post"),
    "create what a module lists": (create_listed, "post"),
    "edit": (edit, "post"),
    "translate": (translate, "post"),
    "publish": (lambda: status("draft", "published"), "post"),
    "publish on schedule": (schedule, "schedule"),
    "unpublish on schedule": (expire, "expiry"),
    "changes on schedule": (change_on_schedule, "schedule"),
    "unpublish": (lambda: status("published", "draft"), "post"),
    "archive": (lambda: status("published", "archived"), "post"),
    "delete": (delete, "trash"),
    "restore": (restore, "restore"),
    "move a tree": (move_tree, "move"),
    "URL pattern": (pattern, "url_pattern"),
    "start a variation": (lambda: variation(running=False, then={"running": True}), "variation"),
    "stop a variation": (lambda: variation(running=True, then={"running": False}), "variation"),
    "weigh a variation": (lambda: variation(running=True, then={"weight": 10}), "variation"),
    "menu": (menu, "menu"),
    "first menu": (first_menu, "menu"),
    "renamed menu": (renamed_menu, "menu"),
    "term": (term, "term"),
    "renamed term": (renamed_term, "term"),
    "newest post of a module": (listed_in_a_module, "post"),
    "first child": (first_child, "post"),
    "publish above a page": (published_above_a_page, "post"),
    "first home page": (first_home_page, "post"),
    "post in place of a fallback": (post_in_place_of_a_fallback, "post"),
    "post where a text links to": (linked_from_a_text, "post"),
    "post where a global module links to": (linked_from_a_global_module, "post"),
    "move to where a text links to": (moved_to_a_linked_address, "move"),
    "global module": (shared_module, "global_module"),
    "global module of a variation": (shared_module_of_a_variation, "global_module"),
    "last use of a global module": (lambda: last_use(featured=False), "post"),
    "last use of a file": (lambda: last_use(featured=True), "post"),
    "form": (form, "form"),
    "facts about an embed": (embed_facts, "embed"),
    "redirect": (lambda: redirect(is_deleted=False), "redirect"),
    "post at the address of a redirect": (publish_over_a_redirect, "post"),
    "unpublished target of a redirect": (hide_a_target, "post"),
    "deleted redirect": (lambda: redirect(is_deleted=True), "redirect"),
    "alternative text": (
        lambda: media(lambda id_: update_asset(asset_id=id_, actor=admin(), alt_text="A mug")),
        "media",
    ),
    "replaced file": (
        lambda: media(
            lambda id_: replace_file(
                asset_id=id_,
                file=BytesIO(make.picture((30, 10))),
                filename="new.png",
                actor=admin(),
            )
        ),
        "media",
    ),
    "variants of a file": (
        lambda: media(lambda id_: request_variants(asset_id=id_, theme="dark", actor=admin())),
        "media",
    ),
    "deleted file": (
        lambda: media(lambda id_: delete_asset(asset_id=id_, actor=admin(), force=True)),
        "media",
    ),
    "content migration": (migrate, "migration"),
    "disclosure": (disclose, "settings"),
    "import of an archive": (lambda: recorded(IMPORTED), "import"),
    "site": (lambda: recorded(SITE_CHANGED), "settings"),
}


INCLUDED: Final = "media,terms,parent,children,translations,modules.posts"


def addresses() -> list[str]:
    """Return the public addresses of the content."""
    posts = list(Post.objects.exclude(path="").order_by("pk").values_list("pk", "path"))
    return [
        *(path for _, path in posts),
        *(f"{path}.md" for _, path in posts if path != "/"),
        *(f"/api/public/posts/{pk}" for pk, _ in posts),
        *(f"/api/public/posts/{pk}?include={INCLUDED}" for pk, _ in posts),
        *(f"/api/public/posts/{pk}?variation=B" for pk, _ in posts),
        *(f"/api/public/resolve?path={path}" for _, path in posts),
        *(f"/api/public/media/{pk}" for pk in Asset.objects.order_by("pk").values_list("pk", flat=True)),
        "/blog", "/blog/feed.xml", "/llms.txt", "/old", "/blog/second", "/blog/kaffee",
        "/api/public/posts", "/api/public/posts?type=blog&locale=de", "/api/public/posts?allLocales=true",
        *(
            f"/api/public/posts?type={type_}&locale={locale}&{more}"
            for type_, locale in (("blog", "en"), ("blog", "de"), ("page", "en"))
            for more in ("fields=translations,ancestors,seo,terms", "fallback=en",
                         "include=media,terms,children,translations,modules.posts")
        ),
        "/api/public/terms", "/api/public/resolve?path=/old", "/api/public/resolve?path=/blog/second",
        "/api/public/resolve?path=/de/blog/second&fallback=en",
        f"/api/public/posts?type=page&include={INCLUDED}", f"/api/public/posts?include={INCLUDED}",
        "/api/public/posts?locale=de&fallback=en", "/api/public/posts?fields=title,translations",
        "/api/public/posts?facets=terms,type",
        "/api/public/resolve?path=/blog", "/api/public/resolve?path=/blog/topics/coffee",
        "/api/public/redirects", "/api/public/redirects?format=nginx", "/api/public/site",
        "/api/public/globals/letter",
        "/api/menus/by-slug/main", "/api/forms-definitions/contact",
    ]  # fmt: skip


def read(urls: list[str]) -> dict[str, tuple[int, bytes, set[str]]]:
    client = Client()
    answers.clear()
    found = {}
    for url in urls:
        answer = client.get(url)
        body = b"".join(answer) if answer.streaming else answer.content
        tags = answer.headers.get("Cache-Tag", "").split(",")
        found[url] = (answer.status_code, body, set(tags))
    return found


def settle() -> int:
    """Mark all events so far as delivered. Return the last id."""
    Event.objects.update(dispatched_at=timezone.now())
    return Event.objects.latest("pk").pk


def told_since(last: int) -> list[dict[str, Any]]:
    events = Event.objects.filter(name=LIVE_CHANGED, pk__gt=last).order_by("pk")
    return [event.payload for event in events]


@pytest.mark.parametrize("operation", list(OPERATIONS))
def test_a_change_tells_the_tags_of_all_answers_that_it_changed(
    run_on_commit: RunOnCommit, operation: str
) -> None:
    prepare, cause = OPERATIONS[operation]
    with run_on_commit():
        work = prepare()
    make.webhook(events=[CONTENT_CHANGED])
    urls, last = addresses(), Event.objects.latest("pk").pk
    before = read(urls)

    with run_on_commit():
        work()

    told = told_since(last)
    assert cause in [one["cause"] for one in told]
    assert Delivery.objects.filter(event_name=CONTENT_CHANGED).count() == len(told)
    tags = {str(tag) for one in told for tag in one["tags"]}
    after = read(urls)
    for url in urls:
        if after[url][:2] == before[url][:2]:
            continue
        # A cache stores the pages of errors of the site no longer than other errors.
        if before[url][0] == 404 and not url.startswith(("/api/public", "/api/menus")):
            continue
        assert tags & before[url][2], (url, tags, before[url][2])


def test_each_live_kind_says_what_it_makes_stale_and_is_walked(run_on_commit: RunOnCommit) -> None:
    walked: set[str] = set()
    for prepare, _cause in OPERATIONS.values():
        walked |= _kinds_of(prepare)

    assert set(live_kinds()) - walked == set()
    for name in live_kinds():
        kind = outbox.find_kind(name)
        assert kind is not None
        assert kind.effect is not None, name


def _kinds_of(prepare: Callable[[], Work]) -> set[str]:
    """Return the kinds of the events of an operation, which is undone."""
    # Not `atomic`: files are stored outside of transactions.
    savepoint = transaction.savepoint()
    work = prepare()
    last = Event.objects.latest("pk").pk if Event.objects.exists() else 0
    work()
    names = set(Event.objects.filter(pk__gt=last).values_list("name", flat=True))
    transaction.savepoint_rollback(savepoint)
    answers.clear()
    return names


def test_a_moved_pattern_tells_new_and_former_addresses_in_one_event(
    run_on_commit: RunOnCommit,
) -> None:
    posts = [make.post(f"Post {number}", slug=f"p{number}") for number in range(7)]
    make.post("Hidden", slug="hidden", status="draft")
    last = settle()

    with run_on_commit():
        create_pattern(actor=admin(), type="blog", locale="en", pattern="/journal/{slug}")

    [told] = told_since(last)
    assert told["cause"] == "url_pattern"
    assert sorted(told["paths"]) == [f"/journal/p{number}" for number in range(7)]
    assert sorted(told["gone"]) == [f"/blog/p{number}" for number in range(7)]
    assert (told["pathsTotal"], told["more"]) == (7, False)
    assert {f"post:{post.pk}" for post in posts} <= set(told["tags"])
    assert {"type:blog:en", "redirects"} <= set(told["tags"])
    rows = LiveChange.objects.filter(tag=f"post:{posts[0].pk}")
    assert set(rows.values_list("path", "is_gone")) == {
        ("/journal/p0", False),
        ("/blog/p0", True),
    }


def test_a_renamed_term_tells_the_former_and_the_new_address_of_its_lists(
    run_on_commit: RunOnCommit,
) -> None:
    renamed = create_term(actor=admin(), taxonomy="tags", name="Hot", locale="")
    for locale in ("en", "de"):
        make.post(locale=locale, slug=f"in-{locale}", taxonomyTermIds=[str(renamed.pk)])
    # The English list keeps its address: it also has the posts of this term.
    english = create_term(actor=admin(), taxonomy="tags", name="Hot", locale="en")
    make.post(slug="other", taxonomyTermIds=[str(english.pk)])
    unused = create_term(actor=admin(), taxonomy="tags", name="Unused", locale="")
    last = settle()

    with run_on_commit():
        change_term(term_id=renamed.pk, actor=admin(), slug="warm")
    later = settle()
    with run_on_commit():
        change_term(term_id=unused.pk, actor=admin(), slug="idle")
        change_term(term_id=renamed.pk, actor=admin(), name="Warm")

    told = told_since(last)[0]
    assert sorted(told["paths"]) == ["/blog/tags/hot", "/blog/tags/warm", "/de/blog/tags/warm"]
    assert told["gone"] == ["/de/blog/tags/hot"]
    rows = LiveChange.objects.filter(tag=f"term:{renamed.pk}", path="/de/blog/tags/hot")
    assert [row.is_gone for row in rows] == [True]
    assert [one["paths"] + one["gone"] for one in told_since(later)] == [[], []]


def test_more_than_a_hundred_addresses_are_counted_and_cut(run_on_commit: RunOnCommit) -> None:
    for number in range(120):
        create_post(
            actor=admin(),
            type="page",
            fields={"title": f"P{number}", "slug": f"p{number}"},
            status="published",
        )
    last = settle()

    with run_on_commit():
        create_pattern(actor=admin(), type="page", locale="en", pattern="/pages/{path}")

    [told] = told_since(last)
    assert (told["pathsTotal"], told["more"]) == (120, True)
    assert (len(told["paths"]), len(told["gone"])) == (100, 100)
    assert LiveChange.objects.filter(is_gone=False, path__isnull=False).count() == 120


def test_links_of_too_many_posts_tell_the_whole_site(
    run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("content.store.live_changes.MAX_AFFECTED", 2)
    text = "See [this](/blog/second) and [that](/blog/third)."
    for number in range(2):
        make.post(f"Linking {number}", slug=f"linking-{number}", markdown=text)
    last = settle()
    with run_on_commit():
        make.post("Second", slug="second")
    make.post("Linking 2", slug="linking-2", markdown=text)
    later = settle()
    with run_on_commit():
        make.post("Third", slug="third")

    assert "site" not in told_since(last)[0]["tags"]
    assert "site" in told_since(later)[0]["tags"]


def test_links_of_what_visitors_cannot_see_are_not_told(run_on_commit: RunOnCommit) -> None:
    draft = make.post("Draft", slug="draft", status="draft", markdown="See [this](/blog/second).")
    shared = make.global_module("unplaced", ctaLabel="More", ctaUrl="/blog/second")
    update_global_links([(shared, None)])
    last = settle()

    with run_on_commit():
        post = make.post("Second", slug="second")

    [told] = told_since(last)
    assert told["tags"] == [f"post:{post.pk}", "type:blog:en"]
    assert not LiveChange.objects.filter(tag=f"post:{draft.pk}").exists()


def test_what_visitors_cannot_see_is_not_told(run_on_commit: RunOnCommit) -> None:
    draft = make.post("Draft", slug="secret-plan", status="draft")
    make.staged(make.post(), {"title": "Proposed"})
    create_variation(post_id=make.post("Third", slug="third").pk, variation="B", actor=admin())
    make.global_module("unplaced")
    last = settle()

    with run_on_commit():
        make.edited(draft, {"title": "New plan"})
        make.edited(draft, {"slug": "other-plan"})
        set_status(post_id=draft.pk, status="archived", actor=admin())
        edit_global(actor=admin(), slug="unplaced", props={"title": "Changed"})

    assert told_since(last) == []
    assert not LiveChange.objects.filter(path__contains="plan").exists()


def test_an_unpublished_post_is_gone_from_where_visitors_saw_it(run_on_commit: RunOnCommit) -> None:
    post = make.post(slug="brew")
    last = settle()

    with run_on_commit():
        set_status(post_id=post.pk, status="draft", actor=admin())
        make.edited(post, {"slug": "secret"})
        set_status(post_id=post.pk, status="archived", actor=admin())

    told = told_since(last)
    assert [(one["paths"], one["gone"]) for one in told] == [([], ["/blog/brew"])]


def test_an_address_is_told_as_the_last_change_left_it(run_on_commit: RunOnCommit) -> None:
    first, second = make.post(slug="first"), make.post(slug="second")
    last = settle()

    with run_on_commit():
        make.edited(first, {"slug": "other"})
        make.edited(second, {"slug": "first"})
        third = make.post(slug="third")
        delete_post(post_id=third.pk, actor=admin())

    gone = {path for one in told_since(last) for path in one["gone"]}
    paths = {path for one in told_since(last) for path in one["paths"]}
    assert gone == {"/blog/second", "/blog/third"}
    assert paths == {"/blog/other", "/blog/first"}
