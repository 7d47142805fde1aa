"""The sample comments of the demo: a question that is assigned, a mention with a reply, one that is resolved.

Found by the `seed` command.
"""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from content.layers import open_layers
from content.models import Post
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom_apps.comments.models import Comment
from proofroom_apps.comments.services import (
    Passage,
    change_comment,
    comment_on_post,
    reply_to_comment,
)

_SLUG = "how-to-brew-filter-coffee"


def seed(*, actor: Actor) -> None:
    """Write the comments, unless there are any."""
    post = Post.objects.alive().filter(slug=_SLUG, locale="en").first()
    names = ("editor@example.com", "translator@example.com")
    people = {user.email: user for user in User.objects.filter(email__in=names)}
    if post is None or len(people) < len(names) or Comment.objects.exists():
        return
    editor, translator = (people[name] for name in names)
    other = Actor(user=translator, via="command")
    prose = next((one for one in open_layers(post).live.modules if one.type == "prose"), None)
    question = comment_on_post(
        post_id=post.pk,
        body=f"@{translator.username} how do we say this in German?",
        path=f"modules.{prose.id}.props.content" if prose is not None else "",
        passage=Passage("Swirl the cone once, gently") if prose is not None else None,
        actor=actor,
    ).comment
    reply_to_comment(
        comment_id=question.pk,
        body=f"@{editor.username} “Schwenken Sie den Filter einmal sanft”. It is in the German post.",
        actor=other,
    )
    comment_on_post(
        post_id=post.pk,
        body="Is this right? The recipe says three and a half minutes.",
        path="post.excerpt",
        passage=Passage("four minutes"),
        assignee=editor.username,
        due_at=timezone.now() + timedelta(days=2),
        actor=other,
    )
    done = comment_on_post(
        post_id=post.pk, body="The picture was cut off. I replaced it.", actor=actor
    ).comment
    change_comment(comment_id=done.pk, status="resolved", actor=actor)
