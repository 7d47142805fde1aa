"""A person beside the running server, on the same database and through the same services.

`python -m tests.mcp.serve person` reads one command per line (`[name, {arguments}]` as JSON) and
answers one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

from content import layers
from content.layers import digest_of
from content.models import Layer, Post, Provenance
from content.posts.publish import set_status
from content.posts.trash import delete_post
from content.store import document_edits
from mcp_bridge.access import tokens
from proofroom.briefs.models import Brief
from proofroom.briefs.services import delete_brief
from proofroom.core.actor import Actor
from tests import make


def new_post(title: str) -> dict[str, Any]:
    post = make.post(title)
    return {"id": str(post.pk), "hero": make.module_id(post, "hero")}


def new_picture(name: str) -> str:
    return str(make.image(name).pk)


def write_brief(voice: str) -> None:
    make.brief("Site", voice=voice)


def delete_briefs() -> None:
    for brief in Brief.objects.all():
        delete_brief(brief_id=brief.pk, actor=make.actor("editor"))


def live_hash() -> str:
    return make.live_hash()


def stage_in_review(id: str, patch: dict[str, Any]) -> None:
    layers.stage(
        post_id=id,
        layer=Layer.REVIEW,
        actor=make.actor("editor"),
        edit=lambda document: document_edits.patch_fields(document, patch),
    )


def approve(id: str) -> dict[str, Any]:
    """Approve all of Review, and return the live content."""
    post = Post.objects.get(pk=id)
    digest = digest_of(make.layers(post).review.changes)
    layers.approve(post_id=id, actor=make.actor("editor"), digest=digest)
    return live(id)


def publish(id: str) -> str:
    """Publish, and return the visitors' page."""
    set_status(post_id=id, status="published", actor=make.actor("editor"))
    return page(id)


def page(id: str) -> str:
    from django.test import Client

    response = Client(SERVER_NAME="localhost").get(Post.objects.get(pk=id).path)
    return f"{response.status_code}\n{response.content.decode()}"


def live(id: str) -> dict[str, Any]:
    post = Post.objects.get(pk=id)
    rows = Provenance.objects.filter(post=post).order_by("pk")
    return {
        **make.layers(post).live.to_json(),
        "status": post.status,
        "by": {row.path: [row.agent_id, row.via, row.approved_by_name] for row in rows},
    }


def new_term(name: str) -> str:
    return str(make.term(name).pk)


def delivered(id: str) -> dict[str, Any]:
    """Return the public answer of the delivery API."""
    from django.test import Client

    response = Client(SERVER_NAME="localhost").get(f"/api/public/posts/{id}")
    return {"status": response.status_code, "body": response.json()}


def hands(id: str) -> dict[str, list[str]]:
    """Return the provenance of each live path: agent, credential, interface, and the approving person."""
    rows = Provenance.objects.filter(post_id=id).order_by("pk")
    return {
        row.path: [row.agent_id, row.principal, row.via, row.approved_by_name]
        for row in rows
        if row.via == "mcp"
    }


def trash(id: str) -> None:
    delete_post(post_id=id, actor=make.actor("editor"))


def token(role: str) -> dict[str, Any]:
    """Return a token for an AI client of a new account of that role."""
    owner = make.user(role, f"{role}-{uuid4().hex[:8]}")
    made, secret = tokens.create_token(name="A client", user_id=owner.pk, actor=_admin())
    return {"id": str(made.pk), "secret": secret, "user": owner.pk}


def revoke(id: str) -> None:
    tokens.revoke_token(token_id=UUID(id), actor=_admin())


def site(method: str, path: str, body: str, headers: dict[str, str]) -> dict[str, Any]:
    """Return the site's response behind its proxy."""
    from django.test import Client

    kept = {
        name: value
        for name, value in headers.items()
        if name.lower() in ("authorization", "accept", "mcp-protocol-version", "origin")
    }
    answer = Client(SERVER_NAME="cms.example.com").generic(
        method, path, body, headers.get("content-type", "text/plain"), secure=True, headers=kept
    )
    return {
        "status": answer.status_code,
        "headers": {"content-type": answer.headers.get("Content-Type", "")},
        "body": answer.content.decode(),
    }


def publish_document(url: str, redirect: str) -> None:
    """Serve a client's document at that URL. This process reads no other."""
    from proofroom.core.http_client import HttpResult
    from proofroom.oauth import client_metadata

    document = {
        "client_id": url,
        "client_name": "Claude Code",
        "redirect_uris": ["http://localhost/callback", redirect],
        "token_endpoint_auth_method": "none",
    }

    def fetch(method: str, address: str, **given: Any) -> HttpResult:
        assert (method, address) == ("GET", url)
        body = json.dumps(document).encode()
        return HttpResult(200, {"content-type": "application/json"}, body, 1)

    client_metadata.__dict__["fetch"] = fetch


def consent(path: str) -> str:
    """Return the redirect of an editor who grants the client's request."""
    from tests.oauth import flow

    browser = flow.person()
    browser.defaults |= {
        "SERVER_NAME": "cms.example.com",
        "HTTP_REFERER": "https://cms.example.com/",
    }
    return str(flow.consent(browser, path, secure=True)["Location"])


def connect() -> dict[str, Any]:
    """Return a client connected by an editor."""
    from django.conf import settings

    from proofroom.oauth.models import OAuthConnection
    from tests.oauth import flow

    # The other steps are asked as the tests of one process ask them.
    settings.SECURE_SSL_REDIRECT = False
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    client_id = flow.register()["client_id"]
    resource = str(settings.CMS_ENV.mcp_url)
    code = parse_qs(urlsplit(consent(flow.authorize_url(client_id, resource=resource))).query)[
        "code"
    ][0]
    tokens = flow.redeem(client_id, code, resource=resource).json()
    row = OAuthConnection.objects.get(client__client_id=client_id)
    return {"id": str(row.pk), **tokens}


def disconnect(id: str) -> None:
    from proofroom.oauth import connections

    connections.disconnect(connection_id=UUID(id), actor=make.actor("editor", via="admin"))


def _admin() -> Actor:
    return make.actor("admin")


COMMANDS: dict[str, Callable[..., Any]] = {
    command.__name__: command
    for command in (
        new_post, new_term, live_hash, stage_in_review, approve, publish, page, live, delivered,
        hands, trash, token, revoke, site, publish_document, consent, connect, disconnect,
        write_brief, delete_briefs, new_picture,
    )
}  # fmt: skip


def obey() -> None:
    # Log records also go to stdout and must not mix with the answers.
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            name, arguments = json.loads(line)
            answers.write(json.dumps(COMMANDS[name](**arguments), default=str) + "\n")
            answers.flush()
