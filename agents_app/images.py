"""Image generation for posts: the fields that take an image, the budget, and the tool."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from io import BytesIO
from typing import TYPE_CHECKING, Final, Literal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents_app.budgets.reservations import reserve, settle
from agents_app.definitions.agents import get_agent
from agents_app.definitions.field_keys import field_of_key
from agents_app.models import AgentRun, Reservation
from agents_app.providers.interface import (
    DEMO_PROVIDER,
    ProviderChoice,
    ProviderError,
    ProviderStopped,
)
from agents_app.providers.prices import image_cost
from agents_app.providers.selection import choose_media_provider
from agents_app.runs.allowed_fields import fields_of_actor
from agents_app.runs.field_target import FieldTarget, find_field
from agents_app.runs.run_log import add_usage
from content.document.document import PostDocument
from content.layers import open_layers, stage
from content.layers.stage import Staged, require_layer
from content.models import Layer
from content.store.post_queries import reachable_posts
from content.store.scopes import require_in_scope, visible_to
from media.metadata import clean_alt_text
from media.models import Asset
from media.services.files import store_image
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, NotFound, RuleViolation, invalid
from proofroom.core.validation.input_validation import reject_unstorable

if TYPE_CHECKING:
    from agents_app.providers.images import MadeImage
from pydantic import Field

from content.tools.arguments import (
    PostId,
    Proposal,
    present_author,
    require_post_id,
    resolve_author,
)
from media.models import ALT_TEXT_MAX
from media.presenters import url_of
from proofroom.core.json import JsonObject
from proofroom.core.slugs import join_words
from proofroom.core.tools import Result, tool

logger = logging.getLogger(__name__)
_WHERE = "post.featuredMediaId, or modules.<postModuleId>.props.<name> with a prop of type media"


@dataclass(frozen=True, slots=True)
class PictureField:
    """An image field of a post, in the state of AI Review."""

    post_id: UUID
    field: FieldTarget

    def edit(self, media_id: str) -> Callable[[PostDocument], PostDocument]:
        """Return the edit that sets the image."""
        return self.field.edit(media_id)


def find_place(*, post_id: UUID, path: str, actor: Actor) -> PictureField:
    """Return the image field at a path. Raises `NotFound`, `NotAllowed`, or `RuleViolation` on `path`."""
    post = visible_to(reachable_posts(), actor).filter(pk=post_id).first()
    if post is None:
        raise NotFound(f"No post has the ID {post_id}. Call list_posts to find the id.")
    require_in_scope(post, actor)
    actor.require_inside(post.translation_group)
    document = open_layers(post).ai_review.document
    try:
        if path.startswith("modules."):
            _, module_id, part, name = [*path.split(".", 3), "", "", ""][:4]
            module = document.module(module_id.lower())
            if module is None:
                raise invalid("path", f"This post has no module {module_id} in AI Review.")
            if part not in ("props", "overrides") or not name:
                raise invalid("path", f"{path} is no path; one is {_WHERE}.")
            field = find_field(document, f"module.{module.type}.{name}", module.id)
        else:
            field = find_field(document, path)
    except RuleViolation as error:
        raise invalid("path", error.message) from None
    if field.field_type != "media":
        raise invalid("path", f"{path} takes no picture; a path is {_WHERE}.")
    allowed = fields_of_actor(actor)
    if allowed is not None:
        allowed.require({"path": field_of_key(field.key)})
    return PictureField(post_id, field)


Size = Literal["1024x1024", "1536x1024", "1024x1536"]
PROMPT_MAX: Final = 4000
CATEGORY: Final = "generated"
_SECONDS: Final = 120.0
"""Maximum seconds to wait for a provider."""
_IMAGE_TOKENS: Final = 6300
"""Maximum tokens of one image, for models priced by tokens."""
_DESCRIPTION_MAX: Final = 2000


@dataclass(frozen=True, slots=True)
class GeneratedImage:
    """The image, and the staged change if a field was given."""

    asset: Asset
    staged: Staged | None


def generate_asset(
    *,
    prompt: str,
    alt_text: str,
    actor: Actor,
    size: Size = "1024x1024",
    post_id: UUID | None = None,
    path: str | None = None,
    reason: str = "",
) -> GeneratedImage:
    """Generate an image and store it. With a post and a path, propose it there in AI Review.

    `reason`: the agent's or AI client's comment. All checks run before money is spent. Call it
    outside of any transaction, because the provider is slow. Raises `NotAllowed`, `NotFound`,
    `RuleViolation` (`image_failed` if the provider made none or the budget is too small), and
    `ProviderStopped` if another worker has taken the run.
    """
    actor.require("media.upload")
    prompt, alt_text = check_words(prompt, alt_text)
    place: PictureField | None = None
    if post_id is not None and path:
        require_layer(actor, Layer.AI_REVIEW)
        place = find_place(post_id=post_id, path=path, actor=actor)
    elif post_id is not None or path is not None:
        missing = "postId" if post_id is None else "path"
        raise invalid(missing, "postId and path go together: they name where the picture belongs.")
    run: AgentRun | None = None
    with suppress(ValueError):
        run = AgentRun.objects.filter(pk=UUID(actor.run_id)).first() if actor.run_id else None
    try:
        made, choice = make_within_budget(prompt, size, actor, run)
    # As a RuleViolation, a lost run would look like a refused call of a tool.
    except (ProviderStopped, CmsError):
        raise
    except ProviderError as error:
        raise RuleViolation(f"No picture was made. {error}", code="image_failed") from None
    # Providers choose the format. The suffix is a guess from the first bytes; the media library
    # checks the content.
    suffix = ".webp" if made.data[8:12] == b"WEBP" else ".png"
    if made.data.startswith(b"\xff\xd8"):
        suffix = ".jpg"
    maker = (
        "the demo (no AI)"
        if choice.provider == DEMO_PROVIDER
        else f"{choice.provider} {choice.model}"
    )
    description = f"Made by {maker} from the words: {' '.join(prompt.split())}"
    asset = store_image(
        file=BytesIO(made.data),
        filename=f"{join_words(alt_text, 80) or 'picture'}{suffix}",
        alt_text=alt_text,
        description=description[:_DESCRIPTION_MAX],
        categories=[CATEGORY],
        actor=actor,
    )
    if place is None:
        return GeneratedImage(asset, None)
    try:
        staged = stage(
            post_id=place.post_id,
            layer=Layer.AI_REVIEW,
            actor=actor,
            edit=place.edit(str(asset.pk)),
            reason=reason,
        )
    except RuleViolation as error:
        message = f"The picture was made and is {asset.pk}, but it was not staged: {error.message}"
        raise RuleViolation(message, code=error.code, details=error.details) from None
    return GeneratedImage(asset, staged)


def check_words(prompt: str, alt_text: str) -> tuple[str, str]:
    reject_unstorable(prompt, "prompt")
    reject_unstorable(alt_text, "altText")
    prompt = prompt.strip()
    if not prompt or len(prompt) > PROMPT_MAX:
        raise invalid("prompt", f"prompt says what to show, in 1 to {PROMPT_MAX:,} characters.")
    if not alt_text.strip() or len(alt_text) > ALT_TEXT_MAX:
        raise invalid(
            "altText",
            f"altText says what the picture shows to people who do not see it, in 1 to {ALT_TEXT_MAX} characters.",
        )
    return prompt, clean_alt_text(alt_text)


def make_within_budget(
    prompt: str, size: Size, actor: Actor, run: AgentRun | None
) -> tuple[MadeImage, ProviderChoice]:
    """Reserve budget, generate the image and settle. Raises `ProviderError`."""
    # Imported here, because the provider libraries are slow to load and listing tools does not need
    # them.
    from agents_app.providers.image_generation import make_image

    agent_id = actor.agent_id or getattr(actor.user, "agent_id", None) or ""
    agent = get_agent(agent_id) if agent_id else None
    choice = choose_media_provider(agent.llm_config, agent.id) if agent else choose_media_provider()
    # About three characters a token, rounded up.
    going_in = 0 if choice.provider == DEMO_PROVIDER else len(prompt) // 3 + 1
    reservation = reserve(
        agent_id=agent_id,
        run=run,
        tokens=going_in + (0 if choice.provider == DEMO_PROVIDER else _IMAGE_TOKENS),
        cost=image_cost(choice, size),
        input_tokens=going_in,
    )
    seconds = _SECONDS
    if run is not None and run.deadline_at is not None:
        # A run must end by its deadline, so the image gets only the remaining time.
        seconds = min((run.deadline_at - timezone.now()).total_seconds(), _SECONDS)
    try:
        made = make_image(choice, prompt=prompt, size=size, seconds=seconds)
    except ProviderError as error:
        if error.worked:
            # The provider may have made the image and charge for it, so the whole reservation
            # counts as used.
            _settle(reservation, run, going_in, reservation.tokens - going_in, reservation.cost)
        else:
            _settle(reservation, run, 0, 0, None)
        raise
    _settle(reservation, run, made.input_tokens, made.output_tokens, made.cost)
    return made, choice


@transaction.atomic
def _settle(
    reservation: Reservation,
    run: AgentRun | None,
    input_tokens: int,
    output_tokens: int,
    cost: Decimal | None,
) -> None:
    if run is not None:
        # Lock the run before the budgets, in the same order as all code that locks both.
        list(AgentRun.objects.select_for_update(no_key=True).filter(pk=run.pk).values_list("pk"))
    if settle(reservation, tokens=input_tokens + output_tokens, cost=cost) and run is not None:
        add_usage(run, input_tokens=input_tokens, output_tokens=output_tokens, cost=cost)


class GenerateImage(Proposal):
    prompt: str = Field(min_length=1, max_length=PROMPT_MAX)
    alt_text: str = Field(min_length=1, max_length=ALT_TEXT_MAX)
    size: Size = "1024x1024"
    post_id: PostId | None = None
    path: str | None = Field(
        None, max_length=300, description="post.featuredMediaId or modules.<id>.props.<name>"
    )


class MadePicture(Result):
    media_id: str
    url: str


@tool(
    title="Generate an image",
    kind="stage",
    permission="media.upload",
    group="media",
    result=MadePicture,
    waits=True,
    costs=True,
)
def generate_image(actor: Actor, arguments: GenerateImage) -> JsonObject:
    """Generate an image and store it in the library. It costs money: search_media first. With postId
    and path, it is staged there in AI Review.
    """
    names_author = arguments.post_id is not None or arguments.agent_id is not None
    writer = resolve_author(actor, arguments.agent_id) if names_author else actor
    post = arguments.post_id
    made = generate_asset(
        prompt=arguments.prompt,
        alt_text=arguments.alt_text,
        size=arguments.size,
        post_id=None if post is None else require_post_id(post, actor),
        path=arguments.path,
        actor=writer,
        reason=arguments.note,
    )
    answer: JsonObject = {
        "mediaId": str(made.asset.pk),
        "url": url_of(made.asset.file.name),
        "altText": made.asset.alt_text,
    }
    if made.staged is not None:
        answer |= {
            "postId": str(made.staged.post.pk),
            "layer": made.staged.layer.value,
            "version": made.staged.version,
            "staged": list(made.staged.paths),
        }
    return {**answer, **present_author(writer, arguments.agent_id)}
