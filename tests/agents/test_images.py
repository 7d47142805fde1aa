"""Pictures that agents and AI clients have made: paid for, kept with their words, proposed in AI Review only."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.storage import default_storage

from agents_app.images import generate_asset
from agents_app.models import Budget, Reservation, Spending
from agents_app.providers.interface import ProviderStopped
from agents_app.runs import execution
from agents_app.runs.creation import create_run
from agents_app.runs.lifecycle import cancel_run
from agents_app.runs.ownership import current_run
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from media.models import Asset, StoredFile
from proofroom.core.errors import CmsError
from proofroom.core.models import Event
from tests import make
from tests.agents.asking import KEY
from tests.agents.environment import set_env
from tests.fake_provider import Call, Reply, serving

pytestmark = pytest.mark.django_db

PICTURE = make.picture((64, 32))
WORDS = {"prompt": "Hands pour water over coffee.", "alt_text": "Hands pouring water"}


def hero_path(post: Any) -> str:
    return f"modules.{make.module_id(post, 'hero')}.props.imageId"


def nothing_was_made() -> bool:
    counts = (Asset, StoredFile, Reservation, Spending)
    return all(model.objects.count() == 0 for model in counts)


def test_the_demo_draws_one_that_says_so_and_the_file_says_where_it_comes_from() -> None:
    made = generate_asset(**WORDS, actor=make.agent_actor("illustrator", "run-1"))

    asset = Asset.objects.get(pk=made.asset.pk)
    assert (asset.filename, asset.alt_text) == ("hands-pouring-water.png", "Hands pouring water")
    assert (asset.mime, asset.width, asset.height) == ("image/png", 1024, 1024)
    assert asset.description == (
        "Made by the demo (no AI) from the words: Hands pour water over coffee."
    )
    assert (asset.categories, asset.uploaded_by.agent_id) == (["generated"], "illustrator")
    event = Event.objects.get(name="media.uploaded")
    assert (event.agent_id, event.run_id) == ("illustrator", "run-1")
    assert made.staged is None
    assert (Reservation.objects.count(), Spending.objects.get().cost) == (0, Decimal(0))


def test_the_same_words_draw_the_same_picture() -> None:
    files = [generate_asset(**WORDS, actor=make.agent_actor()).asset.file for _ in range(2)]

    first, second = (default_storage.open(file.name).read() for file in files)
    assert first == second


@pytest.mark.parametrize("place", ["post.featuredMediaId", "hero"])
def test_with_a_place_it_is_proposed_there_and_nowhere_else(place: str) -> None:
    post = make.post()
    path = hero_path(post) if place == "hero" else place
    before = make.live_hash()

    made = generate_asset(
        **WORDS, post_id=post.pk, path=path, actor=make.agent_actor("illustrator", "run-1")
    )

    assert made.staged is not None
    assert made.staged.paths == (path,)
    view = make.layers(post).ai_review
    assert [change.after for change in view.changes] == [str(made.asset.pk)]
    assert (view.marks[path].agent_id, view.marks[path].run_id) == ("illustrator", "run-1")
    assert make.live_hash() == before


PICTURE_FIELD = "post.featuredMediaId"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"prompt": "  "}, "prompt"),
        ({"prompt": "x" * 4001}, "prompt"),
        ({"prompt": "nul\x00"}, "prompt"),
        ({"alt_text": " \n "}, "altText"),
        ({"alt_text": "x" * 501}, "altText"),
        ({"path": PICTURE_FIELD}, "postId"),
        ({"post_id": "POST"}, "path"),
        ({"post_id": "POST", "path": "post.title"}, "path"),
        ({"post_id": "POST", "path": "post.nothing"}, "path"),
        ({"post_id": "POST", "path": "modules.HERO.props.title"}, "path"),
        ({"post_id": "POST", "path": "modules.HERO.props.nothing"}, "path"),
        ({"post_id": "POST", "path": "modules.HERO"}, "path"),
        ({"post_id": "POST", "path": "modules..props.imageId"}, "path"),
        ({"post_id": "POST", "path": "." * 300}, "path"),
        ({"post_id": "NOBODY", "path": PICTURE_FIELD}, "not_found"),
        ({"post_id": "OTHER", "path": PICTURE_FIELD}, "outside_of_run"),
    ],
)
def test_what_cannot_stand_is_refused_before_money_is_spent(
    openai: Any, given: dict[str, Any], field: str
) -> None:
    """The refusal names the argument; of a post that is not there, or not the run's, its code says so."""
    fake = openai(Reply(image=PICTURE))
    post, other = make.post(), make.post("Another post")
    ids = {"POST": post.pk, "OTHER": other.pk, "NOBODY": uuid4()}
    given = {name: ids.get(value, value) for name, value in given.items()}
    if "path" in given:
        given["path"] = given["path"].replace("HERO", make.module_id(post, "hero"))
    actor = replace(make.agent_actor(), confined_to=post.translation_group)

    with pytest.raises(CmsError) as caught:
        generate_asset(**{**WORDS, **given}, actor=actor)

    assert [*caught.value.details] == [field] or caught.value.code == field
    assert (fake.asked, nothing_was_made()) == ([], True)


@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "gpt-image-2"), ("google", "gemini-3.1-flash-image")]
)
def test_a_provider_is_asked_over_its_own_wire_and_its_price_counts(
    settings: Any, provider: str, model: str
) -> None:
    with serving(Reply(image=PICTURE, usage=(20, 1000))) as fake:
        url = fake.openai_url if provider == "openai" else fake.address
        set_env(
            settings,
            **{f"ai_provider_{provider}_api_key": KEY, f"ai_provider_{provider}_base_url": url},
        )
        made = generate_asset(**WORDS, size="1536x1024", actor=make.agent_actor("illustrator"))

    asset = made.asset
    assert (asset.width, asset.height, asset.mime) == (64, 32, "image/png")
    assert asset.description.startswith(f"Made by {provider} {model} from the words: Hands")
    (asked,) = fake.asked
    assert "Hands pour water over coffee." in str(asked.body)
    spending = Spending.objects.get()
    assert (spending.agent_id, spending.tokens) == ("illustrator", 1020)
    assert spending.cost > 0
    assert Reservation.objects.count() == 0


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=400, message=f"bad {KEY}"),
        Reply(status=401, message=KEY),
        Reply(image=None),
        Reply(image=b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"),
    ],
    ids=["refused", "key", "empty", "svg"],
)
def test_a_failed_picture_leaves_nothing_but_its_reason(openai: Any, reply: Reply) -> None:
    openai(reply)

    with pytest.raises(CmsError) as caught:
        generate_asset(**WORDS, actor=make.agent_actor("illustrator"))

    assert KEY not in caught.value.message
    assert (Asset.objects.count(), StoredFile.objects.count()) == (0, 0)
    assert Reservation.objects.count() == 0


def test_a_budget_that_does_not_allow_it_is_told_before_the_provider_is_asked(openai: Any) -> None:
    fake = openai(Reply(image=PICTURE))
    Budget.objects.create(agent_id="illustrator", cost_per_day=Decimal("0.01"))

    with pytest.raises(CmsError, match="The budget of the agent illustrator") as caught:
        generate_asset(**WORDS, actor=make.agent_actor("illustrator"))

    assert caught.value.code == "image_failed"
    assert (fake.asked, Asset.objects.count(), Reservation.objects.count()) == ([], 0, 0)


def test_an_ai_client_gets_id_and_address(settings: Any) -> None:
    post = make.post()
    principal = Principal(id="client", user_id=make.user("ai_agent").pk)
    arguments = {
        "prompt": "A cup",
        "altText": "A cup of coffee",
        "postId": str(post.pk),
        "path": "post.featuredMediaId",
    }

    result: Any = call_tool(principal, "generate_image", arguments)

    asset = Asset.objects.get()
    assert result.structured_content == {
        "mediaId": str(asset.pk),
        "url": default_storage.url(asset.file.name),
        "altText": "A cup of coffee",
        "postId": str(post.pk),
        "layer": "ai-review",
        "version": 1,
        "staged": ["post.featuredMediaId"],
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {"prompt": "A cup"},
        {"prompt": "A cup", "altText": ""},
        {"prompt": "A", "altText": "A", "size": "9x9"},
    ],
    ids=["no alt text", "empty alt text", "size"],
)
def test_a_call_without_its_words_is_told_how_to_mend_it(arguments: dict[str, str]) -> None:
    principal = Principal(id="client", user_id=make.user("ai_agent").pk)

    result: Any = call_tool(principal, "generate_image", arguments)

    assert result.is_error
    assert (
        "Signature: generate_image(prompt, altText, agentId?, note?, size?, postId?, path?)"
        in result.content[0].text
    )
    assert nothing_was_made()


def test_nobody_uploads_or_edits_a_file_with_what_an_agent_may(settings: Any) -> None:
    """`media.upload` of the role is for this tool alone; what a file says about itself is for people."""
    from media.services.update import update_asset

    asset = generate_asset(**WORDS, actor=make.agent_actor("illustrator")).asset

    with pytest.raises(CmsError):
        update_asset(asset_id=asset.pk, alt_text="Mine", actor=make.agent_actor("illustrator"))
    with pytest.raises(CmsError):
        generate_asset(**WORDS, actor=make.mcp_actor("translator"))
    assert Asset.objects.count() == 1


def test_a_run_counts_the_picture_and_its_answer_sets_it(openai: Any) -> None:
    """The illustrator's way: it looks, finds nothing, has one made, and answers with its id."""
    post = make.post()
    editor = make.actor("editor")
    call = Call("generate_image", {"prompt": "A cup", "altText": "A cup of coffee"})
    fake = openai(
        Reply(calls=(Call("search_media", {"q": "cup"}),)),
        Reply(calls=(call,)),
        Reply(image=PICTURE, usage=(20, 1000)),
        Reply(output={"post": {}, "summary": "Made a picture of a cup."}),
    )
    run = create_run(agent_id="illustrator", scope="dropdown", actor=editor, post_id=post.pk)

    execution.execute_run(run.pk)

    run.refresh_from_db()
    assert (run.status, run.error) == ("succeeded", "")
    assert [(step.kind, step.name, step.ok) for step in run.steps.all()][1:4:2] == [
        ("tool", "search_media", True),
        ("tool", "generate_image", True),
    ]
    asset = Asset.objects.get()
    told = str(fake.asked[-1].body)
    assert str(asset.pk) in told
    assert (run.input_tokens, run.output_tokens) == (3 * 1000 + 20, 3 * 100 + 1000)
    assert Spending.objects.get().tokens == run.input_tokens + run.output_tokens
    assert Event.objects.get(name="media.uploaded").run_id == str(run.pk)


def test_a_run_that_was_cancelled_meanwhile_keeps_no_picture(openai: Any) -> None:
    openai(Reply(image=PICTURE, usage=(20, 1000)))
    admin = make.actor("admin")
    run = create_run(agent_id="illustrator", scope="dropdown", actor=admin, post_id=make.post().pk)
    cancel_run(run_id=run.pk, actor=admin)
    run.refresh_from_db()

    with current_run(run), pytest.raises(ProviderStopped):
        generate_asset(**WORDS, actor=make.agent_actor("illustrator", str(run.pk)))

    run.refresh_from_db()
    assert (Asset.objects.count(), StoredFile.objects.count()) == (0, 0)
    # It was paid for all the same.
    assert (run.status, run.output_tokens, Spending.objects.get().tokens) == (
        "cancelled",
        1000,
        1020,
    )


def test_the_demo_illustrator_finds_before_it_makes() -> None:
    found = make.image("coffee.png", alt_text="How to brew filter coffee by hand")
    post, other = make.post(), make.post("A museum of clocks")
    editor = make.actor("editor")

    for of in (post, other):
        run = create_run(agent_id="illustrator", scope="dropdown", actor=editor, post_id=of.pk)
        execution.execute_run(run.pk)

    made = Asset.objects.exclude(pk=found.pk).get()
    proposed = [
        make.layers(of).ai_review.document.fields["featuredMediaId"] for of in (post, other)
    ]
    assert proposed == [str(found.pk), str(made.pk)]
    assert made.alt_text == "A museum of clocks"
