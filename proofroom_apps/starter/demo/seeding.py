"""Writes the sample content through the services.

Safe to run again: existing content, also in the trash, stays unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from io import BytesIO
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from content.document.document import PostDocument
from content.layers import stage
from content.models import Layer, ModuleInstance, Post
from content.posts.create import create_post, shared_modules
from content.store import document_edits
from content.store.search_words import collect_words
from media.models import Asset
from media.services.files import store_image
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.accounts.services.agents import agent_user, ensure_agent_user
from proofroom.core.actor import Actor
from proofroom.core.caching.content_version import bump_content_version
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import (
    ModuleProps,
    find_module,
    find_post_type,
    props_of,
    steps_of,
    validate_props,
)
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.models import Menu
from proofroom_apps.starter.demo.images import draw
from proofroom_apps.starter.demo.reading import (
    DemoImage,
    DemoItem,
    DemoPost,
    DemoStaged,
    DemoTerm,
    words,
)

PASSWORD = "demo-password"  # noqa: S105  # known to everyone on purpose
PEOPLE = (Role.ADMIN, Role.EDITOR, Role.TRANSLATOR)
AGENTS = ("general-assistant", "seo-specialist", "translator", "proofreader", "illustrator")
Ids = Mapping[str, str]


def account_conflicts() -> list[str]:
    """Return a sentence for each existing account of another person with a demo address or name."""
    sentences = []
    for role in PEOPLE:
        email = f"{role}@example.com"
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            other = User.objects.filter(username=role).first()
            if other is not None:
                sentences.append(f"The account {other.email} has the user name '{role}'.")
        elif user.role != role or not user.is_active:
            state = f"the role {user.role}" if user.role != role else "been turned off"
            sentences.append(f"The account {user.email} has {state}.")
    return sentences


def ensure_people() -> dict[str, User]:
    """Return the demo accounts by role. Missing ones are created if their address is free."""
    found: dict[str, User] = {}
    for role in PEOPLE:
        email = f"{role}@example.com"
        user = User.objects.filter(email__iexact=email).first()
        found[role] = user or User.objects.create_user(email, PASSWORD, username=role, role=role)
    if not settings.CMS_ENV.agent_users_bootstrap_disabled:
        for agent_id in AGENTS:
            ensure_agent_user(agent_id=agent_id)
    return found


def ensure_image(name: str, image: DemoImage, actor: Actor) -> str:
    """Return the id of a demo picture. Draws and stores it if missing."""
    filename = f"{name}.jpg"
    found = Asset.objects.filter(filename=filename, alt_text=image.alt).first()
    if found is None:
        found = store_image(
            file=BytesIO(draw(image.scene, name)),
            filename=filename,
            alt_text=image.alt,
            categories=["demo"],
            actor=actor,
        )
    return str(found.pk)


def ensure_term(term: DemoTerm, locale: str, parent: Term | None = None, place: int = 0) -> None:
    row, _ = Term.objects.get_or_create(
        taxonomy="topics",
        locale=locale,
        slug=term.slug,
        defaults={"name": term.name, "parent": parent, "order_index": place},
    )
    for number, child in enumerate(term.children):
        ensure_term(child, locale, row, number)


def ensure_global(slug: str, type: str, label: str, props: Mapping[str, object]) -> None:
    if not ModuleInstance.objects.filter(global_slug=slug).exists():
        filled = validate_props(type, demo_props(find_module(type).Props, props, {}))
        ModuleInstance.objects.create(
            type=type, scope="global", global_slug=slug, label=label, props=filled
        )


def demo_props(of: type[ModuleProps], values: Mapping[str, object], images: Ids) -> JsonObject:
    """Return props as they are stored: Markdown as rich text, picture names as ids."""
    known = props_of(of)
    filled = words(values)
    for name, value in filled.items():
        prop = known.get(name)
        if prop is None:
            continue
        if prop.kind == "richtext" and isinstance(value, str):
            filled[name] = from_markdown(value)
        elif prop.kind == "media" and isinstance(value, str):
            filled[name] = images[value]
        elif prop.nested is not None and isinstance(value, list):
            filled[name] = [demo_props(prop.nested, item, images) for item in value]
    return filled


@transaction.atomic
def ensure_post(demo: DemoPost, actor: Actor, images: Ids) -> bool:
    """Create a post as if it had been written days ago. Return True if it was missing."""
    rows = Post.objects.filter(type=demo.type, slug=demo.slug)
    if rows.filter(locale=demo.locale).exists():
        return False
    # People must agree first to a type with editorial steps, also in a demo.
    status = "draft" if steps_of(demo.type) else "published"
    post = create_post(
        actor=actor,
        type=demo.type,
        locale=demo.locale,
        status=status,
        fields=_fields(demo, images),
        edit=lambda document: _with_modules(document, demo, images),
        translation_of=rows.filter(deleted_at__isnull=True).first(),
    )
    day = timezone.now() - timedelta(days=demo.days_ago)
    # The services cannot set past dates, but lists sorted by date need different ones.
    rows = Post.objects.filter(pk=post.pk)
    rows.update(created_at=day, updated_at=day)
    rows.filter(published_at__isnull=False).update(published_at=day)
    return True


def _fields(demo: DemoPost, images: Ids) -> JsonObject:
    fields: JsonObject = {
        "title": demo.title,
        "slug": demo.slug,
        "excerpt": demo.excerpt,
        "metaTitle": demo.meta_title or None,
        "metaDescription": demo.meta_description or None,
        "orderIndex": demo.order,
        "featuredMediaId": images[demo.image] if demo.image else None,
    }
    if demo.custom:
        known = find_post_type(demo.type).CustomFields
        fields["customFields"] = demo_props(known, demo.custom, images)
    if demo.parent:
        rows = Post.objects.alive().filter(type=demo.type, slug=demo.parent, locale=demo.locale)
        parent = rows.earliest("created_at")
        fields["parentId"] = str(parent.pk)
    if demo.topics:
        terms = Term.objects.filter(taxonomy="topics", locale=demo.locale, slug__in=demo.topics)
        fields["taxonomyTermIds"] = [str(pk) for pk in terms.values_list("pk", flat=True)]
    return fields


def _with_modules(document: PostDocument, demo: DemoPost, images: Ids) -> PostDocument:
    """Return the document with the file's modules in order.

    Modules that the type's group locks keep their place and their lock.
    """
    shared = shared_modules()
    document = document_edits.seed_group(document, None, shared)
    for module in document.modules:
        # The file's modules replace the unlocked ones of the type's group.
        if not module.locked:
            document = document.without_module(module.id)
    locked = {module.type: module.id for module in document.modules}
    for type, given in demo.modules:
        if type == "global":
            slug = str(given["slug"])
            instance = ModuleInstance.objects.get(global_slug=slug)
            document, _ = document_edits.add_module(
                document, type=instance.type, shared=(slug, str(instance.pk))
            )
            continue
        props = demo_props(find_module(type).Props, given, images)
        if type == "prose" and not props:
            props = {"content": from_markdown(demo.body)}
        if type in locked:
            document = document_edits.update_module(document, locked.pop(type), props=props)
        else:
            document, _ = document_edits.add_module(document, type=type, props=props)
    return document


def ensure_menu(slug: str, locale: str, items: tuple[DemoItem, ...]) -> None:
    if not Menu.objects.filter(slug=slug, locale=locale).exists():
        rows = [_item(item, locale) for item in items]
        Menu.objects.create(slug=slug, locale=locale, name=slug.capitalize(), items=rows)


def _item(item: DemoItem, locale: str) -> dict[str, Json]:
    post = Post.objects.alive().filter(type="page", slug=item.post, locale=locale).first()
    row: dict[str, Json] = {
        "id": str(uuid4()),
        "label": item.label,
        "type": "post" if post else "custom",
        "url": post.path if post else item.url,
        "children": [_item(child, locale) for child in item.children],
    }
    return {**row, "postId": str(post.pk)} if post else row


def ensure_staged(staged: DemoStaged, editor: User) -> bool:
    """Stage a proposal unless the post's layer was ever used. Return True if it was staged."""
    layer = Layer.AI_REVIEW if staged.agent else Layer.REVIEW
    post = Post.objects.alive().filter(slug=staged.post, locale=staged.locale).first()
    writer = agent_user(staged.agent) if staged.agent else editor
    # A decided proposal leaves an empty draft, and must not be staged again.
    if post is None or writer is None or post.drafts.filter(layer=layer).exists():
        return False

    def edit(document: PostDocument) -> PostDocument:
        document = document_edits.patch_fields(document, dict(staged.fields))
        for type, props in staged.modules.items():
            module = next(module for module in document.modules if module.type == type)
            document = document_edits.update_module(document, module.id, props=dict(props))
        return document

    actor = Actor(
        user=writer,
        via="agent" if staged.agent else "command",
        agent_id=staged.agent or None,
    )
    stage(post_id=post.pk, layer=layer, actor=actor, edit=edit)
    return True


def invalidate_demo_pages() -> None:
    """Invalidate cached pages, since menus and terms are written without the services."""
    bump_content_version()
    collect_words()  # which is done once an hour, else
