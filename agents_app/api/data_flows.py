"""`/api/settings/data-flows`: which data goes to which AI provider."""

from __future__ import annotations

from typing import Annotated, ClassVar

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.agent_status import ResolvedProvider
from agents_app.data_flows import DataFlow, SentData, data_flows
from agents_app.presenters import AgentScope, ModelReferenceAnswer
from forms.masking import PERSONAL_DATA_KINDS
from proofroom.core.api.answer import Answer, one_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.views import ApiViewSet

PersonalDataName = Annotated[str, one_of(PERSONAL_DATA_KINDS)]


class SentDataAnswer(Answer):
    """One kind of data in the requests of an agent."""

    kind: str = Field(description="Its place in the request, such as `post` or `context.examples`.")
    label: str
    fields: list[str] = Field(description="The names within it; for tools, their names.")
    scopes: list[AgentScope] = Field(description="The situations in which it is sent.")
    masked: list[PersonalDataName] = Field(
        description="Kinds of personal data that are replaced by placeholders."
    )


class AgentDataFlowAnswer(Answer):
    """The data that an agent sends, and the providers that get it. Null: none is configured."""

    agent_id: str
    name: str
    enabled: bool
    text_provider: ModelReferenceAnswer | None
    fallback: ModelReferenceAnswer | None = Field(description="Gets the same data in an outage.")
    image_provider: ModelReferenceAnswer | None
    text: list[SentDataAnswer]
    images: list[SentDataAnswer]


class ClientToolsAnswer(Answer):
    """A group of tools whose answers AI clients get over MCP, as far as their accounts may."""

    group: str
    tools: list[str]


class DataFlowsAnswer(Answer):
    """The data that leaves the house: to AI providers, by agent, and to AI clients, by tool."""

    agents: list[AgentDataFlowAnswer]
    clients: list[ClientToolsAnswer]
    masked_personal_data: list[PersonalDataName]


class DataFlowViewSet(ApiViewSet):
    """What leaves the house."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": "agents.edit"}

    @extend_schema(responses=DataFlowsAnswer)
    def retrieve(self, request: Request) -> Response:
        """The data that agents send to AI providers, and the tools whose answers AI clients get."""
        found = data_flows(self.actor)
        return Response(
            DataFlowsAnswer(
                agents=[_answer(flow) for flow in found.agents],
                clients=[
                    ClientToolsAnswer(group=group, tools=[*tools])
                    for group, tools in found.client_tools.items()
                ],
                masked_personal_data=[*found.masked],
            )
        )


def _answer(flow: DataFlow) -> AgentDataFlowAnswer:
    agent = flow.agent
    return AgentDataFlowAnswer(
        agent_id=agent.definition.id,
        name=agent.definition.name,
        enabled=agent.is_enabled,
        text_provider=_reference(agent.text),
        fallback=_reference(agent.fallback),
        image_provider=_reference(agent.media),
        text=[_sent(one) for one in flow.text],
        images=[_sent(one) for one in flow.images],
    )


def _sent(one: SentData) -> SentDataAnswer:
    return SentDataAnswer(
        kind=one.kind,
        label=one.label,
        fields=[*one.fields],
        scopes=[scope.value for scope in one.scopes],
        masked=[*one.masked],
    )


def _reference(found: ResolvedProvider | None) -> ModelReferenceAnswer | None:
    if found is None or found.problem:
        return None
    return {"provider": found.provider, "model": found.model}
