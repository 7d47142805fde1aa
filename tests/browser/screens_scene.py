"""Sites for screenshots of all screens: one with an object of every kind, and one with texts that are too long."""

from __future__ import annotations

from typing import Any

from agents_app.models import AgentRun
from content.models import Layer, ModuleInstance, Post, PostJob, Replacement, UrlPattern
from content.modules.module_groups import create_group
from content.posts.trash import delete_post
from content.store import document_edits
from forms.models import FormDefinition
from media.models import Asset
from proofroom.core.models import Event
from proofroom.taxonomies.models import Term
from proofroom.webhooks.models import Delivery, Webhook
from proofroom_apps.feedback.services import create_feedback
from proofroom_apps.imports.models import ImportRun
from proofroom_apps.menus.services import create_menu
from proofroom_apps.previews.services import create_preview_link
from tests import make
from tests.browser import agents_scene, inbox_scene, jobs_scene, media_scene
from tests.browser.scene import coffee
from tests.oauth import flow

Screens = dict[str, str]
"""The URL of each screen, by name."""

WORD = "Kaffeefiltertütenhalterungsbefestigungsschraube" * 5
"""More than 200 letters without a line break opportunity."""

TITLES = (
    "Moka pots",
    "Espresso at home",
    "Cold brew in ten minutes",
    "What a grinder does",
    "Kettles",
)


def filled() -> Screens:
    """Fill a site in use: with pending, failed and outdated objects."""
    post = coffee()
    inbox_scene.translated(TITLES)
    media_scene.library()
    make.staged(post, {"metaTitle": "Filter coffee, by hand"}, layer=Layer.REVIEW)
    make.edited(post, {"excerpt": "Ten minutes, and no machine."})
    agents_scene.story(post)
    agents_scene.batch(post)
    _page_tree()
    jobs_scene.tried_import()
    jobs_scene.export()
    jobs_scene.archived(*(make.post(name, slug=name.lower()) for name in ("Scales", "Spoons")))
    flow.connected("admin")
    _menu_and_terms(post)
    _people_and_tokens()
    _what_other_systems_hear()
    _what_visitors_send()
    admin = make.actor("admin")
    make.redirect("/old-prices", post.path)
    make.redirect("/summer-menu", "/nowhere")
    make.placed(post, make.global_module())
    for name in ("Winter menu", "Opening party"):
        gone = make.post(name, slug=name.lower().replace(" ", "-"))
        delete_post(post_id=gone.pk, actor=admin)
    create_feedback(
        post_id=str(post.pk),
        content="Is 94 °C right for light roasts?",
        actor=admin,
        x=20.0,
        y=320.0,
    )
    for layer in ("source", "review"):
        create_preview_link(post_id=post.pk, layer=layer, hours=72, actor=make.actor("editor"))
    hero: Any = {"type": "hero", "locked": True}
    places = [hero, {"type": "prose"}, {"type": "faq"}]
    create_group(actor=admin, name="article", label="Article", post_type="blog", modules=places)
    UrlPattern.objects.create(type="blog", locale="en", pattern="/blog/{slug}")
    Replacement.objects.create(find="tea", replace="coffee", total=2, by_name="admin")
    return screens(post)


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
    make.form(description="We answer within a day.")
    for name, text in (
        ("ada", "When do you open on Sundays?"),
        ("sam", "Do you grind beans for a moka pot?"),
        ("kim", "The kettle in your guide: which one is it?"),
    ):
        make.submission(email=f"{name}@example.com", message=text)


def screens(post: Post) -> Screens:
    """Return all screens of an admin."""
    of = f"/admin/content/post/{post.pk}"
    run = AgentRun.objects.filter(cause_run__isnull=False).first() or AgentRun.objects.first()
    named = {
        "home": "",
        "inbox": "inbox/",
        "notifications": "notifications/",
        "account": "account/",
        "account-methods": "account/methods/",
        "connected-clients": "proofroom_oauth/oauthconnection/",
        "imports": "proofroom_imports/importrun/",
        "import-add": "proofroom_imports/importrun/add/",
        "import": _run("importrun", is_export=False),
        "exports": "proofroom_imports/exportrun/",
        "export-add": "proofroom_imports/exportrun/add/",
        "export": _run("exportrun", is_export=True),
        "jobs": "content/postjob/",
        "job": _one("content/postjob", PostJob),
        "posts": "content/post/",
        "post-add": "content/post/add/",
        "editor": f"{of}/change/",
        "editor-review": f"{of}/change/?layer=review",
        "review-ai": f"{of}/review/?layer=ai-review",
        "review": f"{of}/review/?layer=review",
        "preview": f"{of}/preview/",
        "previews": f"{of}/previews/",
        "revisions": f"{of}/revisions/",
        "restore": f"{of}/revisions/{_pk(post.revisions.order_by('version'))}/restore/",
        "trash": "content/post/trash/",
        "translations": "content/translations/",
        "tree": "content/post/tree/",
        "translate": _translation(),
        "feedback": "proofroom_feedback/feedback/",
        "menus": "proofroom_menus/menu/",
        "menu": _one("proofroom_menus/menu", post),
        "terms": "proofroom_taxonomies/term/?taxonomy=topics",
        "patterns": "content/urlpattern/",
        "pattern": _one("content/urlpattern", UrlPattern),
        "groups": "content/modulegroup/",
        "globals": "content/moduleinstance/",
        "global": _shared("content/moduleinstance/{}/change/"),
        "global-history": _shared("content/shared/global-module/{}/history/"),
        "approval": "approval/",
        "replace": "content/replacement/",
        "redirects": "seo/redirect/",
        "agents": "agents_app/agentswitch/",
        "agent": "agents_app/agentswitch/seo-specialist/change/",
        "runs": "agents_app/agentrun/",
        "run": f"agents_app/agentrun/{run.pk}/change/" if run else "",
        "batches": "agents_app/agentbatch/",
        "ai-settings": "agents_app/aisettings/",
        "media": "media/asset/",
        "media-file": _one("media/asset", Asset),
        "media-alt-texts": "media/asset/alt-texts/",
        "media-check": "media/asset/check/",
        "forms": "forms/formdefinition/",
        "form": _one("forms/formdefinition", FormDefinition),
        "submissions": "forms/formsubmission/",
        "users": "proofroom_accounts/user/",
        "user": f"proofroom_accounts/user/{make.user('editor').pk}/change/",
        "user-add": "proofroom_accounts/user/add/",
        "tokens": "proofroom_accounts/apitoken/",
        "token-add": "proofroom_accounts/apitoken/add/",
        "log": "proofroom_core/event/",
        "event": _one("proofroom_core/event", Event),
        "webhooks": "proofroom_webhooks/webhook/",
        "webhook": _one("proofroom_webhooks/webhook", Webhook),
        "webhook-add": "proofroom_webhooks/webhook/add/",
        "deliveries": "proofroom_webhooks/delivery/",
        "delivery": _one("proofroom_webhooks/delivery", Delivery),
        "workflows": "proofroom_webhooks/workflowswitch/",
        "analytics": "analytics/sitecount/",
    }
    return {
        name: address if address.startswith("/") else f"/admin/{address}"
        for name, address in named.items()
        if address or name == "home"
    }


def _one(part: str, model: Any) -> str:
    from proofroom_apps.menus.models import Menu

    model = Menu if isinstance(model, Post) else model
    pk = _pk(model._default_manager.order_by("pk"))
    return f"{part}/{pk}/change/" if pk else ""


def _run(name: str, *, is_export: bool) -> str:
    pk = _pk(ImportRun.objects.filter(is_export=is_export))
    return f"proofroom_imports/{name}/{pk}/change/" if pk else ""


def _pk(rows: Any) -> str:
    first = rows.first()
    return str(first.pk) if first else ""


def _shared(address: str) -> str:
    pk = _pk(ModuleInstance.objects.filter(scope="global"))
    return address.format(pk) if pk else ""


def _translation() -> str:
    pk = _pk(Post.objects.filter(locale="de"))
    return f"content/post/{pk}/translate/" if pk else ""


def crowded() -> Screens:
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
    return screens(post)


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
