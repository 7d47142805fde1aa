"""The public trigger: agents that are started from outside, with the secret."""

from __future__ import annotations

import hmac
from typing import ClassVar

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.api.agents import AGENT_ID, MADE_WAITING, RUN_RESPONSES, GlobalRun, answer, wait_of
from agents_app.runs.triggers import TriggerRateExceeded, trigger_run
from proofroom.core.api.body import Words, read_body
from proofroom.core.api.exceptions import body as error_body
from proofroom.core.api.permissions import SECRET, Declared
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import NotAuthenticated

_CAUSE = OpenApiParameter(
    "X-Agent-Run",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The run whose reaction led to this call, as its webhook was told in a header of that name.",
)


class TriggerRun(GlobalRun):
    scope: Words = "dropdown"


class TriggerViewSet(ApiViewSet):
    """The public trigger: whoever has the secret starts an agent, which acts with its own rights only."""

    # No session is looked at, so that no page can make a signed-in browser start an agent.
    authentication_classes = ()
    throttle_scope = "trigger"
    path_schemas = AGENT_ID
    permissions: ClassVar[dict[str, Declared]] = {"run": SECRET}

    @extend_schema(
        parameters=[*MADE_WAITING, _CAUSE],
        request=TriggerRun,
        responses=RUN_RESPONSES,
    )
    def run(self, request: Request, agent_id: str) -> Response:
        """Run an agent from outside. Needs the secret in X-Agent-Key, or as a Bearer credential.

        Whoever is called by a reaction sends its X-Agent-Run along, so that the chain of runs is counted.
        """
        require_secret(request)
        body, wait = read_body(request, TriggerRun), wait_of(request)
        try:
            run, actor = trigger_run(
                agent_id=agent_id,
                scope=body.scope,
                post_id=body.post_id,
                context=body.context,
                open_ended_context=body.open_ended_context,
                caused_by=request.META.get("HTTP_X_AGENT_RUN", "").strip(),
            )
        except TriggerRateExceeded as error:
            answered = error_body(error.status, error.code, error.message)
            answered["Retry-After"] = str(error.seconds)
            return answered
        return answer(run, wait, actor)


def require_secret(request: Request) -> None:
    """Raise `NotAuthenticated` unless the request carries the secret; without one configured, always."""
    env = settings.CMS_ENV
    expected = env.agent_trigger_secret or env.mcp_auth_token
    scheme, _, bearer = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    given = [request.META.get("HTTP_X_AGENT_KEY", "")]
    if scheme.lower() == "bearer":
        given.append(bearer.strip())
    # Every candidate is compared, so that the time tells nothing about which one it was.
    matches = [
        hmac.compare_digest(candidate.encode("utf-8", "surrogateescape"), (expected or "").encode())
        for candidate in given
        if candidate
    ]
    if not expected or not any(matches):
        raise NotAuthenticated("Send the agent secret in X-Agent-Key, or as a Bearer credential.")
