"""The sites that are pictured: one in use, an empty one, and one with texts that are too long."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from django.db.models import QuerySet
from django.utils import timezone

from agents_app.models import AgentRun
from analytics.models import Dimension
from content.models import Layer, ModuleGroup, Post, QueuedChange, UrlPattern
from content.modules.module_groups import create_group
from content.posts.trash import delete_post
from content.store import document_edits
from forms.models import FormDefinition
from media.models import Asset
from media.services.update import update_asset
from proofroom.core.activity.chain import seal_events
from proofroom.core.json import Json
from proofroom.core.models import Event
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.notifications.models import Notification
from proofroom.taxonomies.models import Term
from proofroom.webhooks.models import Delivery, Webhook
from proofroom_apps.feedback.services import create_feedback
from proofroom_apps.imports.models import ImportRun
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import create_menu
from proofroom_apps.previews.services import create_preview_link
from proofroom_apps.privacy.services.requests import start_request
from tests import make
from tests.analytics.counted import ago, count
from tests.browser import agents_scene, inbox_scene, jobs_scene, media_scene
from tests.browser.pictures.declared import Ids
from tests.browser.pictures.heatmap_scene import clicked
from tests.browser.pictures.repeatable import Clock
from tests.browser.pictures.team_scene import team
from tests.browser.scene import coffee
from tests.oauth import flow

WORD = "Kaffeefiltertütenhalterungsbefestigungsschraube" * 5
"""More than 200 letters without a line break opportunity."""
_TITLES: Final = (
    "Moka pots",
    "Espresso at home",
    "Cold brew in ten minutes",
    "What a grinder does",
    "Kettles",
)
_FILES: Final = (
    "harbour-at-dawn.jpg",
    "roastery.jpg",
    "filter-and-kettle.png",
    "beans-after-the-first-crack.jpg",
    "grinder.png",
    "beans.jpg",
    "cups-on-a-shelf.jpg",
    "evening-light.jpg",
)


def site(clock: Clock) -> Ids:
    """Fill a site in use: weeks of work, with pending, failed and outdated objects."""
    admin = make.actor("admin")
    make.user("translator")
    for title in ("Fresh water", "Scales", "Spoons"):
        make.post(title, excerpt="Use fresh water, and weigh it.")
        clock.forward(days=4, hours=3)
    _page_tree()
    plain, arabic = make.post("Filter coffee for two"), _right_to_left()
    media_scene.library(_FILES)
    _menu_and_terms(plain)
    _people_and_tokens()
    clock.forward(days=9)
    tapped = clicked()
    clock.forward(days=6, hours=2)
    _what_other_systems_hear()
    _what_visitors_send()
    clock.forward(days=5)
    _deleted(clock)
    jobs_scene.tried_import()
    jobs_scene.archived(*Post.objects.filter(slug__in=("scales", "spoons")).order_by("slug"))
    flow.connected("admin")
    make.redirect("/old-prices", plain.path)
    make.redirect("/summer-menu", "/nowhere")
    shared = make.global_module(
        title="A letter every month",
        body=from_markdown("One recipe, and what is new in the shop."),
        ctaLabel="Subscribe",
        ctaUrl="/newsletter",
    )
    for post in (plain, tapped):
        make.placed(post, shared)
    hero: Any = {"type": "hero", "locked": True}
    places = [hero, {"type": "prose"}, {"type": "faq"}]
    create_group(actor=admin, name="article", label="Article", post_type="blog", modules=places)
    UrlPattern.objects.create(type="blog", locale="en", pattern="/blog/{slug}")
    clock.forward(days=1, hours=20)
    post = coffee()
    clock.forward(hours=1)
    inbox_scene.translated(_TITLES, typo="ist")
    make.edited(post, {"orderIndex": 3})
    clock.forward(hours=1)
    make.staged(post, {"metaTitle": "Filter coffee, by hand"}, layer=Layer.REVIEW)
    make.edited(post, {"featuredMediaId": str(Asset.objects.get(filename=_FILES[2]).pk)})
    run = _agents(post, clock)
    create_feedback(
        post_id=str(post.pk),
        content="Is 94 °C right for light roasts?",
        actor=admin,
        x=20.0,
        y=320.0,
    )
    for layer in ("source", "review"):
        create_preview_link(post_id=post.pk, layer=layer, hours=72, actor=make.actor("editor"))
    clock.forward(minutes=50)
    person = start_request(email="ada@example.com", action="search", actor=admin)
    jobs_scene.export()
    _visits(post, tapped, plain)
    clock.forward(minutes=20)
    seal_events()
    asset = Asset.objects.get(filename=_FILES[0])
    update_asset(
        asset_id=asset.pk, actor=admin, alt_text="A harbour at dawn", focal_point=(0.66, 0.36)
    )
    _order_disabled_webhooks()
    return {
        "coffee": str(post.pk),
        "plain": str(plain.pk),
        "arabic": str(arabic.pk),
        "clicked": str(tapped.pk),
        "german": _pk(Post.objects.filter(locale="de", title="Espresso at home")),
        "like": str(QueuedChange.objects.filter(path="post.metaDescription")[0].like),
        "revision": _pk(post.revisions.order_by("version")),
        "run": str(run.pk),
        "failed_run": _pk(AgentRun.objects.filter(status="failed", post=post)),
        "asset": str(asset.pk),
        "menu": _pk(Menu.objects.all()),
        "form": _pk(FormDefinition.objects.all()),
        "group": _pk(ModuleGroup.objects.filter(name="article")),
        "shared": str(shared.pk),
        "import_run": _pk(ImportRun.objects.filter(is_export=False)),
        "export_run": _pk(ImportRun.objects.filter(is_export=True)),
        "person": str(person.pk),
        "event": _pk(Event.objects.filter(name="post.updated").order_by("-pk")),
        "webhook": _pk(Webhook.objects.filter(name="Search")),
        "failed_delivery": _pk(Delivery.objects.filter(status="failed").order_by("created_at")),
    }


def empty(clock: Clock) -> Ids:
    """Leave the site as it is after the installation."""
    return {}


def _right_to_left() -> Post:
    post = make.post("Filter coffee in Arabic", slug="arabic")
    words = {"title": "كيفية تحضير القهوة المفلترة", "excerpt": "عشر دقائق، ولا حاجة إلى آلة."}
    return make.edited(post, words)


def _deleted(clock: Clock) -> None:
    for name in ("Winter menu", "Opening party", "Old prices"):
        gone = make.post(name, slug=name.lower().replace(" ", "-"))
        delete_post(post_id=gone.pk, actor=make.actor("editor"))
        clock.forward(days=1)


def _agents(post: Post, clock: Clock) -> AgentRun:
    """Create the runs of a post. Return one with steps of four seconds in all."""
    own = agents_scene.story(post)
    own.has_read_untrusted = False
    own.started_at, end = timezone.now() - timedelta(seconds=4), timezone.now()
    own.finished_at = own.started_at + timedelta(seconds=3.4)
    own.cost = Decimal("0.013400")
    own.save()
    end = own.started_at
    for step in own.steps.order_by("number"):
        end += timedelta(milliseconds=step.milliseconds + 60)
        own.steps.filter(pk=step.pk).update(created_at=end)
    clock.forward(minutes=30)
    return own


def _visits(*posts: Post) -> None:
    """Create the figures of sixty days, with more visits on working days and to some posts."""
    for days in range(60):
        views = 180 - days * 2 + (days * 37) % 50 - 40 * (ago(days).weekday() > 4)
        count(ago(days), views, views // 9, views // 60)
        for dimension, values in _SHARES.items():
            for value, share in values.items():
                part = round(views * share)
                count(ago(days), part, part // 9, part // 60, dimension=dimension, value=value)
        for number, post in enumerate(posts, 2):
            count(ago(days), views // number, views // (9 * number), post_id=post.pk)


_SHARES: Final = {
    Dimension.LOCALE: {"en": 0.8, "de": 0.2},
    Dimension.DEVICE: {"desktop": 0.55, "mobile": 0.38, "tablet": 0.07},
    Dimension.REFERRER: {"": 0.5, "search.example": 0.3, "news.example": 0.15},
}


def _page_tree() -> None:
    """Create pages below pages, one of them a draft."""
    for title, below in (
        ("Products", (("Kettles", ("Stovetop", "Electric")), ("Grinders", ("Hand grinders",)))),
        ("Services", (("Overview", ()), ("Repairs", ()))),
        ("About us", ()),
    ):
        top = _page(title)
        for name, pages in below:
            middle = _page(name, top)
            for leaf in pages:
                _page(leaf, middle, status="draft" if leaf == "Electric" else "published")


def _page(title: str, parent: Post | None = None, **values: Any) -> Post:
    above = {"parentId": str(parent.pk)} if parent is not None else {}
    return make.post(title, type="page", slug=title.lower().replace(" ", "-"), **above, **values)


def _menu_and_terms(post: Post) -> None:
    below: Any = [
        {"type": "post", "postId": str(post.pk)},
        {"label": "Every article", "url": "/blog"},
    ]
    items: Any = [
        {"label": "Home", "url": "/"},
        {"label": "Learn", "children": below},
        {"label": "Contact", "url": "/contact"},
    ]
    create_menu(actor=make.actor(), name="Main", slug="main", locale="en", items=items)
    for name, above in (("Filter", "Coffee"), ("Espresso", "Coffee"), ("Green tea", "Tea")):
        parent = make.term(above)
        slug = name.lower().replace(" ", "-")
        Term.objects.create(taxonomy="topics", name=name, slug=slug, parent=parent)


def _order_disabled_webhooks() -> None:
    """Let the notifications of webhooks that were turned off be in the order of their names.

    Calls of different webhooks end in any order.
    """
    names = {str(pk): name for pk, name in Webhook.objects.values_list("pk", "name")}
    rows = list(Notification.objects.filter(kind="webhook.disabled"))
    latest = max(row.updated_at for row in rows)
    for place, row in enumerate(sorted(rows, key=lambda one: names[one.subjects[0]])):
        row.updated_at = latest + timedelta(milliseconds=place)
        row.save(update_fields=["updated_at"])


def _people_and_tokens() -> None:
    from mcp_bridge.access import tokens as mcp_tokens
    from proofroom.accounts.services.tokens import create_token

    admin = make.actor("admin")
    for role in ("editor", "translator"):
        make.user(role)
    make.user("editor", "guest-of-last-year").set_unusable_password()
    create_token(name="Frontend", permissions=["posts.view"], actor=admin)
    create_token(name="Export of the shop", permissions=["posts.view", "media.view"], actor=admin)
    mcp_tokens.create_token(name="Desk", user_id=admin.user.pk, actor=admin)


def _what_other_systems_hear() -> None:
    # Tasks run immediately: events recorded before a webhook exists have no delivery.
    told = [make.event() for _ in range(4)] + [make.event("form.submitted")]
    search = make.webhook()
    shop = make.webhook("Shop", url="https://shop.example/hooks/content", events=["form.submitted"])
    calls = (("succeeded", 200), ("failed", 500), ("succeeded", 200), ("pending", None))
    for event, (status, code) in zip(told, calls, strict=False):
        make.delivery(event, search, status=status, code=code)
    make.delivery(told[4], shop)


def _what_visitors_send() -> None:
    types: dict[str, Json] = {"name": "text", "email": "email", "message": "textarea"}
    fields: list[Json] = [
        {"name": name, "label": name.title(), "type": type_, "required": True}
        for name, type_ in types.items()
    ]
    options: list[Json] = ["Filter", "Espresso", "Something else"]
    fields.append(
        {"name": "brew", "label": "How do you brew?", "type": "select", "options": options}
    )
    make.form(description="We answer within a day.", fields=fields)
    for name, brew, text in (
        ("Ada", "Filter", "When do you open on Sundays?"),
        ("Sam", "Espresso", "Do you grind beans for a moka pot?"),
        ("Kim", "Filter", "The kettle in your guide: which one is it?"),
    ):
        email = f"{name.lower()}@example.com"
        make.submission(name=name, email=email, brew=brew, message=text)


def crowded(clock: Clock) -> Ids:
    """Fill a site with words of 200 letters, a post of 100 modules, and terms and menus of maximum depth."""
    word = WORD[:200]
    post = make.post("Long")
    make.edited(post, {"title": word, "excerpt": word})
    _hundred_modules(post)
    make.staged(post, {"title": word[::-1][:200], "excerpt": word[::-1]})
    make.staged(post, {"metaDescription": word}, layer=Layer.REVIEW)
    agents_scene.run(post, "failed", error=f"The provider answered: {word}", summary=word)
    media_scene.library()
    make.image(word[:150] + ".png")
    above: Term | None = None
    for depth in range(60):
        above = Term.objects.create(
            taxonomy="topics", slug=f"deep-{depth}", name=word[:60] if depth % 9 == 4 else f"Level {depth}",
            parent=above,
        )  # fmt: skip
    items: Any = {"label": word[:100], "url": f"/{word}"}
    create_menu(actor=make.actor("admin"), name=word[:90], slug="main", locale="en", items=[items])
    make.form(title=word[:100], description=word)
    make.submission(email="a@example.com", message=word * 3)
    make.redirect(f"/{word}", post.path)
    make.global_module(word[:60].lower().replace("ü", "u"), title=word[:80])
    told = make.event()
    make.delivery(told, make.webhook(word[:90], url=f"https://search.example/{word}"))
    create_feedback(post_id=str(post.pk), content=word, actor=make.actor("admin"), x=20.0, y=120.0)
    create_preview_link(post_id=post.pk, layer="review", hours=72, actor=make.actor("editor"))
    make.user("editor", "donaudampfschifffahrtsgesellschaftskapitaenswitwenrente")
    return {"long": str(post.pk)}


def _hundred_modules(post: Post) -> None:
    from content.posts.edit import edit_post

    def fill(document: Any) -> Any:
        for number in range(97):
            kind = ("prose", "callout", "separator")[number % 3]
            props = {"title": f"No. {number}"} if kind == "callout" else None
            text = f"Part {number}: grind, pour, wait." if kind == "prose" else None
            document, _ = document_edits.add_module(
                document, type=kind, props=props, content_markdown=text
            )
        return document

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=fill)


def _pk(rows: QuerySet[Any]) -> str:
    """Return the id of the first row."""
    return str(rows[:1].get().pk)


SCENES: Final[dict[str, Callable[[Clock], Ids]]] = {
    "site": site, "empty": empty, "long": crowded, "team": team,
}  # fmt: skip
