"""Usage of files is stored as rows, in the transaction of every change of a document."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from PIL import Image

from content.document.document import PostDocument
from content.find_replace.services import find_and_replace
from content.layers import approve, digest_of, reject, revert_to_revision, submit
from content.models import Layer, ModuleInstance, Post
from content.modules.global_modules import create_global, delete_global, edit_global
from content.posts.edit import edit_post
from content.posts.trash import delete_post, purge_trash, restore_post
from content.posts.variations import create_variation, promote_variation
from content.store import document_edits
from content.store.media_usage import (
    GLOBAL,
    collect_global_uses,
    collect_uses,
    find_posts_using_media,
)
from content.translations.translate import create_translation, propose_translation
from media.models import Asset, MediaReference, StoredFile
from media.services.files import store_image
from media.services.references import Held
from proofroom.core.errors import RuleViolation
from tests import make

pytestmark = pytest.mark.django_db
Row = tuple[str, str, str, str, str]


def image(name: str = "a.png") -> Asset:
    out = BytesIO()
    Image.new("RGB", (20, 10), "teal").save(out, "PNG")
    out.seek(0)
    asset = store_image(file=out, filename=name, alt_text=f"Picture {name}", actor=make.actor())
    for stored in (asset.file.name, *asset.variants.values()):
        StoredFile.objects.get_or_create(name=stored, defaults={"asset": asset})
    return asset


def rows(of: Asset | None = None) -> set[Row]:
    found = MediaReference.objects.all() if of is None else of.references.all()
    values = found.values_list("holder_kind", "holder_id", "layer", "path", "asset_id")
    return {(kind, str(id_), layer, path, str(asset)) for kind, id_, layer, path, asset in values}


def places(of: Asset) -> set[tuple[str, str]]:
    return set(of.references.values_list("layer", "path"))


def assert_exact() -> None:
    """Compare the rows with a fresh scan of everything stored."""
    held: list[Held] = collect_uses(list(find_posts_using_media()))
    held += collect_global_uses(list(ModuleInstance.objects.filter(scope="global")))
    ids: dict[Any, Any] = {asset.pk: asset.pk for asset in Asset.objects.all()}
    names = {row.name: row.asset_id for row in StoredFile.objects.filter(asset__isnull=False)}
    known = {**ids, **names}
    wanted = {
        (item.kind, str(item.id), item.layer, path, str(known[token]))
        for item in held
        for path, tokens in item.after.items()
        for token in tokens
        if token in known
    }
    assert rows() == wanted
    assert MediaReference.objects.count() == len(wanted)


def hero_image(of: Post, asset: Asset | None) -> Callable[[PostDocument], PostDocument]:
    hero = make.module_id(of, "hero")
    value = str(asset.pk) if asset else None
    return lambda document: document_edits.update_module(document, hero, props={"imageId": value})


def text_with(of: Post, *sources: str) -> Callable[[PostDocument], PostDocument]:
    prose = make.module_id(of, "prose")
    text = "\n\n".join(f"![a picture]({source})" for source in sources) or "No picture."
    return lambda document: document_edits.update_module(document, prose, content_markdown=text)


def edit(of: Post, change: Callable[[PostDocument], PostDocument]) -> Post:
    return edit_post(post_id=of.pk, actor=make.actor("admin"), edit=change)


def test_each_place_of_a_post_has_its_row():
    featured, shown, inline, linked = image("f"), image("s"), image("i"), image("l")
    post = make.post(featuredMediaId=str(featured.pk))
    hero, prose = make.module_id(post, "hero"), make.module_id(post, "prose")
    edit(post, hero_image(post, shown))
    name = inline.variants["small"]
    edit(
        post,
        lambda document: document_edits.update_module(
            document,
            prose,
            content_markdown=f"![a](http://127.0.0.1:8000/media/{name}?x=1)\n\n"
            f"[the file](/media/{linked.file.name}) ![b](/media/none/none.png)",
        ),
    )

    assert places(featured) == {("live", "post.featuredMediaId")}
    assert places(shown) == {("live", f"modules.{hero}.props.imageId")}
    assert [path.split(".")[:3] for _, path in places(inline)] == [["modules", prose, "props"]]
    assert places(linked) == places(inline)
    assert_exact()


def test_no_write_leaves_a_stale_row():
    one, two, three = image("1"), image("2"), image("3")
    admin, editor = make.actor("admin"), make.actor("editor")
    post = make.post(featuredMediaId=str(one.pk))
    edit(post, hero_image(post, two))
    edit(post, text_with(post, f"/media/{three.file.name}"))
    assert_exact()

    make.staged(post, edit=hero_image(post, three))
    make.staged(post, {"featuredMediaId": str(two.pk)}, layer=Layer.REVIEW)
    assert {layer for layer, _ in places(two)} == {"live", "review"}
    assert {layer for layer, _ in places(three)} == {"live", "ai-review"}
    assert_exact()
    submit(post_id=post.pk, actor=editor)
    assert {layer for layer, _ in places(three)} == {"live", "review"}
    assert_exact()
    approve(
        post_id=post.pk,
        actor=admin,
        digest=digest_of(make.layers(post).review.changes),
        paths=["post.featuredMediaId"],
    )
    assert places(one) == set()
    assert ("live", "post.featuredMediaId") in places(two)
    assert_exact()
    reject(post_id=post.pk, layer=Layer.REVIEW, actor=admin)
    assert {layer for layer, _ in places(three)} == {"live"}
    assert_exact()

    make.staged(post, edit=text_with(post, f"/media/{one.file.name}"), layer=Layer.REVIEW)
    edit(post, text_with(post, f"/media/{one.file.name}"))
    assert {layer for layer, _ in places(one)} == {"live"}, "what live has come to hold is settled"
    assert_exact()

    first = post.revisions.order_by("version").first()
    assert first is not None
    revert_to_revision(post_id=post.pk, revision_id=first.pk, actor=admin)
    assert ("live", "post.featuredMediaId") in places(one)
    assert_exact()

    german = create_translation(post_id=post.pk, locale="de", actor=admin)
    assert any(id_ == str(german.pk) for _, id_, *_ in rows(one))
    assert_exact()
    variation = create_variation(post_id=post.pk, variation="B", actor=admin)
    edit(variation, hero_image(variation, three))
    assert_exact()
    promote_variation(post_id=post.pk, variation_id=variation.pk, actor=admin)
    assert_exact()
    delete_post(post_id=german.pk, actor=admin)
    assert not any(id_ == str(german.pk) for _, id_, *_ in rows())
    assert_exact()
    other = make.post("Another one", featuredMediaId=str(two.pk))
    propose_translation(post_id=other.pk, locale="de", actor=make.agent_actor())
    assert {layer for layer, _ in places(two)} == {"live", "ai-review"}
    assert_exact()
    find_and_replace(
        actor=admin,
        find=three.file.name,
        replace=two.file.name,
        tables=["modules"],
        is_dry_run=False,
    )
    assert_exact()


def test_the_trash_uses_no_file_and_what_comes_back_uses_it_again():
    one, two = image("1"), image("2")
    admin = make.actor("admin")
    post = make.post(featuredMediaId=str(one.pk))
    make.staged(post, edit=hero_image(post, two))
    variation = create_variation(post_id=post.pk, variation="B", actor=admin)
    before = rows()
    assert {id_ for _, id_, *_ in before} == {str(post.pk), str(variation.pk)}

    delete_post(post_id=post.pk, actor=admin)
    assert rows() == set()
    assert_exact()
    edit(variation, hero_image(variation, two))
    assert rows() == set(), "its original lies in the trash, and so does it"
    two.delete()
    restore_post(post_id=post.pk, actor=admin)

    assert rows() == {row for row in before if row[4] == str(one.pk)}
    assert_exact()
    delete_post(post_id=post.pk, actor=admin)
    Post.objects.filter(pk=post.pk).update(deleted_at="2020-01-01T00:00:00Z")
    assert purge_trash(actor=admin, days=1) == 1
    assert rows() == set()


def test_global_modules_hold_their_own():
    one, two = image("1"), image("2")
    actor = make.actor("admin")
    target = f"/media/{one.file.name}"
    module = create_global(actor=actor, slug="brochure", type="callout", props={"ctaUrl": target})
    assert places(one) == {("live", "props.ctaUrl")}
    assert rows(one) == {
        (GLOBAL, str(module.pk), "live", "props.ctaUrl", str(one.pk)),
    }
    assert_exact()
    edit_global(actor=actor, slug="brochure", props={"ctaUrl": f"/media/{two.file.name}"})
    assert (places(one), len(places(two))) == (set(), 1)
    find_and_replace(
        actor=actor,
        find=two.file.name,
        replace=one.file.name,
        tables=["global_modules"],
        is_dry_run=False,
    )
    assert (len(places(one)), places(two)) == (1, set())
    assert_exact()
    delete_global(actor=actor, slug="brochure")
    assert rows() == set()


def test_a_write_that_changes_no_file_asks_nothing_of_references():
    one = image()
    post = make.post(featuredMediaId=str(one.pk))
    edit(post, text_with(post, f"/media/{one.file.name}"))

    with CaptureQueriesContext(connection) as queries:
        edit(post, lambda document: document.with_fields({"title": "Another title"}))
        make.staged(post, {"excerpt": "Other words"}, layer=Layer.REVIEW)
    asked = [query["sql"] for query in queries if "media_mediareference" in query["sql"]]
    assert asked == []

    with CaptureQueriesContext(connection) as queries:
        edit(post, hero_image(post, one))
    asked = [query["sql"] for query in queries if "media_mediareference" in query["sql"]]
    assert len(asked) == 2, "one that deletes, one that inserts"


def test_an_image_that_is_gone_is_refused_where_live_content_would_name_it(monkeypatch):
    gone = image()
    id_ = str(gone.pk)
    post = make.post()
    # Simulates a deletion between the check of the rules and the write.
    monkeypatch.setattr("content.rules.check.check_references", lambda *_, **__: None)
    gone.delete()

    with pytest.raises(RuleViolation) as caught:
        edit(post, lambda document: document.with_fields({"featuredMediaId": id_}))

    assert list(caught.value.details) == ["featuredMediaId"]
    assert Post.objects.get(pk=post.pk).featured_media_id is None
    make.staged(post, {"featuredMediaId": id_}, layer=Layer.REVIEW)
    assert rows() == set(), "a draft keeps the dead id, and no row of it"


def test_rows_that_are_missing_stale_or_orphaned_are_mended(capsys):
    one, two = image("1"), image("2")
    post = make.post(featuredMediaId=str(one.pk))
    make.staged(post, edit=hero_image(post, two))
    create_global(
        actor=make.actor("admin"),
        slug="brochure",
        type="callout",
        props={"ctaUrl": f"/media/{one.file.name}"},
    )
    right = rows()
    assert len(right) == 3
    MediaReference.objects.filter(layer="ai-review").delete()
    MediaReference.objects.filter(holder_kind="global-module").update(path="props.elsewhere")
    MediaReference.objects.create(
        asset=two, holder_kind="post", holder_id=two.pk, layer="live", path="post.featuredMediaId"
    )

    for _ in range(2):
        call_command("rebuild_media_references")
        assert rows() == right
        assert capsys.readouterr().out == "Found 3 uses of files.\n"
