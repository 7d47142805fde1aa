"""Reading tools answer the sample content as described, in both formats, with consistent pages."""

from __future__ import annotations

from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from agents_app.runs.creation import create_run
from content.models import Draft, Post
from content.tools.stage_changes import SavePost, save_post_ai_review
from mcp_bridge.access.principals import Principal
from media.models import Asset, MediaReference
from proofroom.core.tools import Tool, all_tools
from proofroom.core.tools.pagination import ToolPage
from proofroom.core.tools.schemas import result_schema
from proofroom_apps.previews.services import create_preview_link
from proofroom_apps.starter.demo import reading, seeding
from tests import make
from tests.contract.test_tool_walk import TOOLS
from tests.mcp.calling import done

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]

READS: Final = frozenset(
    tool.name for tool in all_tools() if tool.kind == "read" and tool.group != "diagnostics"
)
# Where the sample content has something better to show than the walk over the tools.
OF_SAMPLE: Final[dict[str, dict[str, Any]]] = {
    "get_global_module": {"globalSlug": "newsletter-callout"},
    "get_module_schema": {"type": "faq"},
    "get_post_revision": {"postId": "POST", "revisionId": "REVISION", "compareTo": "EARLIER"},
    "search_media": {"q": "coffee"},
    "suggest_modules_for_layout": {"postType": "blog"},
}


def arguments_of(name: str, names: dict[str, str]) -> dict[str, Any]:
    """Return arguments besides limit, cursor and format; upper-case ones are looked up in the sample content."""
    _, given = TOOLS[name]
    return {key: names.get(value, value) for key, value in OF_SAMPLE.get(name, given).items()}


def test_every_read_and_every_list_promises_its_answer() -> None:
    promised = {tool.name for tool in all_tools() if tool.result is not None}

    assert promised >= READS


def test_the_answers_of_the_sample_content_are_what_was_promised() -> None:
    names = _sample()

    for tool in all_tools():
        if tool.name not in READS:
            continue
        for format in _formats(tool):
            given = arguments_of(tool.name, names)
            answer = done(tool.name, _operator(), **given, **format)
            _check(tool, answer)
            if isinstance(tool.result, type) and issubclass(tool.result, ToolPage):
                _check_pages(tool.name, {**given, **format}, answer)


def _operator() -> Principal:
    return Principal(id="client:answers", user_id=make.user("ai_agent").pk)


def _formats(tool: Tool[Any]) -> list[dict[str, str]]:
    has_format = "format" in tool.arguments.model_fields
    return [{"format": "concise"}, {"format": "full"}] if has_format else [{}]


def _check(tool: Tool[Any], answer: dict[str, Any]) -> None:
    assert tool.result is not None
    errors = [
        f"{tool.name} {'.'.join(map(str, error.path))}: {error.message[:200]}"
        for error in Draft202012Validator(result_schema(tool.result)).iter_errors(answer)
    ]
    assert errors == []
    for item in answer.get("items", []):
        assert None not in item.values(), (tool.name, item)


def _check_pages(name: str, arguments: dict[str, Any], whole: dict[str, Any]) -> None:
    """Check that pages of two give the same rows in the same order, and that the list is not empty."""
    assert whole["total"] >= 1, name
    seen: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = done(name, _operator(), **arguments, limit=5 if not cursor else 7, **cursor)
        assert page["total"] == whole["total"]
        seen += page["items"]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(seen) == whole["total"], name
    assert seen[: len(whole["items"])] == whole["items"]
    assert len({str(item) for item in seen}) == len(seen), name


def _sample() -> dict[str, str]:
    _seed()
    file = MediaReference.objects.order_by("asset_id").first()
    post = Post.objects.get(slug="how-to-brew-filter-coffee", locale="en")
    assert file is not None
    create_preview_link(post_id=post.pk, layer="source", actor=make.actor())
    make.edited(post, {"title": "Filter coffee, again"})
    make.edited(post, {"excerpt": "Once more"})
    save_post_ai_review(
        make.mcp_actor(), SavePost(post_id=post.pk, patch={"metaTitle": "Proposed"})
    )
    assert Draft.objects.filter(is_empty=False).exists()
    run = create_run(
        agent_id="seo-specialist", scope="dropdown", actor=make.actor(), post_id=post.pk
    )
    newest, earlier = post.revisions.order_by("-version")[:2]
    return {
        "POST": str(post.pk),
        "RUN": str(run.pk),
        "FILE": str(file.asset_id),
        "REVISION": str(newest.pk),
        "EARLIER": str(earlier.pk),
    }


def _seed() -> None:
    """Create the sample articles with their dependencies; one small picture replaces all others, which
    are slow to draw, and a file without a size.
    """
    actor, site = make.actor("editor"), reading.read_site()
    picture = str(make.image("coffee.png", categories=["demo"]).pk)
    images = dict.fromkeys(site.images, picture)
    make.image("drawing.png")
    Asset.objects.filter(filename="drawing.png").update(width=None, height=None)
    for number, term in enumerate(site.topics["en"]):
        seeding.ensure_term(term, "en", place=number)
    for slug, shared in site.globals.items():
        seeding.ensure_global(slug, shared.type, shared.label, shared.props)
    for post in reading.read_posts():
        if post.type == "blog" and post.locale in ("en", "de"):
            seeding.ensure_post(post, actor, images)
