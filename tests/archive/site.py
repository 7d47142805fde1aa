"""A small site with an object of every kind, exported and imported again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from django.core.files.storage import default_storage
from django.utils import timezone

from content.models import (
    Layer,
    ModuleGroup,
    ModuleInstance,
    Post,
    UrlPattern,
)
from content.paths.url_patterns import create_pattern
from content.posts.variations import create_variation
from forms.models import FormDefinition
from media.models import Asset, StoredFile
from proofroom.archive.export import Choice
from proofroom.archive.imports import ImportReport, Mode
from proofroom.archive.services import Exported, export_archive, import_archive
from proofroom.briefs.models import Brief
from proofroom.shared_content.models import SharedProposal, SharedRevision
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import create_menu
from proofroom_apps.snippets.models import PostTemplate, Snippet
from seo.models import Redirect
from tests import make


def fill() -> Post:
    """Fill the site. Return a published page that contains nearly every kind of data."""
    picture = make.image("cup.png", alt_text="A cup")
    topic = make.term("Coffee")
    create_pattern(actor=make.actor("admin"), type="blog", locale="en", pattern="/stories/{slug}")
    parent = make.post("Company", type="page")
    make.post("Team", type="page", parentId=str(parent.pk))
    post = make.post("Brewing", featuredMediaId=str(picture.pk), taxonomyTermIds=[str(topic.pk)])
    make.placed(post, make.global_module())
    make.post("Brühen", locale="de", translation_of=post)
    create_variation(post_id=post.pk, variation="B", actor=make.actor("admin"))
    make.edited(post, {"excerpt": "Slowly."})
    make.staged(post, {"title": "Brewing well"}, layer=Layer.REVIEW)
    make.staged(post, {"metaTitle": "Brew"})
    make.form()
    make.redirect("/old", "/stories/brewing")
    items = [{"label": "", "type": "post", "postId": str(post.pk)}]
    make.brief("Blog", type="blog", voice="Warm.", terms=[{"term": "grinder"}])
    make.snippet("Tip", types=["blog"], locale="en")
    make.snippet("Claim", text="Roasted **fresh**.")
    make.template(post, "Guide", description="For guides.")
    create_menu(actor=make.actor("admin"), name="Main", slug="main", locale="en", items=items)
    return Post.objects.get(pk=post.pk)


def empty() -> None:
    """Delete all content, like in a fresh installation; accounts stay."""
    for asset in Asset.objects.all():
        default_storage.delete(asset.file.name)
    for model in (
        *(Redirect, Brief, Menu, FormDefinition, ModuleGroup, UrlPattern),
        *(Snippet, PostTemplate),
    ):
        model.objects.all().delete()
    # Deleting a parent makes its children roots, whose slugs may then collide.
    Post.objects.update(deleted_at=timezone.now())
    Post.objects.all().delete()
    for other in (ModuleInstance, StoredFile, Asset, Term, SharedRevision, SharedProposal):
        other.objects.all().delete()


def export(**choice: bool | frozenset[str]) -> bytes:
    return export_with_notes(**choice)[0]


def export_with_notes(**choice: bool | frozenset[str]) -> tuple[bytes, Exported]:
    target = BytesIO()
    exported = export_archive(
        target=target,
        actor=make.actor("admin"),
        choice=Choice(**choice),
    )
    return target.getvalue(), exported


def bring(archive: bytes, mode: Mode = Mode.ADD, *, dry_run: bool = False) -> ImportReport:
    return import_archive(
        source=BytesIO(archive), actor=make.actor("admin"), mode=mode, dry_run=dry_run
    )


def rewrite(archive: bytes, **changed: bytes | None) -> bytes:
    """Return the archive with some files replaced, by name with `_` for `.`; None removes a file."""
    names = {name.replace("_", "."): content for name, content in changed.items()}
    out = BytesIO()
    with ZipFile(BytesIO(archive)) as old, ZipFile(out, "w") as new:
        for entry in old.infolist():
            content = names.pop(entry.filename, old.read(entry))
            if content is not None:
                new.writestr(entry.filename, content)
        for name, content in names.items():
            if content is not None:
                new.writestr(name, content)
    return out.getvalue()


def with_rows(archive: bytes, name: str, *changes: Callable[[list[Any]], Any]) -> bytes:
    """Return the archive with changed rows and a matching manifest."""
    with ZipFile(BytesIO(archive)) as file:
        rows = [json.loads(line) for line in file.read(name).splitlines()]
        manifest = json.loads(file.read("manifest.json"))
    for change in changes:
        change(rows)
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    manifest["files"][name] = {
        "rows": len(rows),
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return rewrite(
        archive,
        **{name.replace(".", "_"): content, "manifest_json": json.dumps(manifest).encode()},
    )
