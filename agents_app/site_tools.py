"""What there is on this site by name, for AI clients: one line each."""

from __future__ import annotations

from agents_app.definitions.files import all_agents
from agents_app.definitions.switches import only_enabled
from content.definitions import modules, post_types, taxonomies
from core.actor import Actor
from core.json import JsonObject
from core.tools import NoArguments, Result, tool
from forms.queries import titles_of_forms


class NamedBySlug(Result):
    slug: str
    name: str


class NamedModule(Result):
    type: str
    name: str
    description: str


class NamedAgent(Result):
    id: str
    name: str
    description: str


class RegistryItems(Result):
    """`agents` is there for callers who may see them."""

    post_types: list[NamedBySlug]
    modules: list[NamedModule]
    forms: list[NamedBySlug]
    taxonomies: list[NamedBySlug]
    agents: list[NamedAgent] | None = None


@tool(
    title="What there is",
    kind="read",
    permission="posts.view",
    arguments=NoArguments,
    group="context",
    result=RegistryItems,
)
def list_registry_items(actor: Actor, arguments: NoArguments) -> JsonObject:
    """Every post type, module, form, taxonomy and agent of this site by name. A first look around."""
    answer: JsonObject = {
        "postTypes": [{"slug": row.name, "name": row.label} for row in post_types],
        "modules": [
            {"type": row.name, "name": row.label, "description": row.description} for row in modules
        ],
        "forms": [{"slug": slug, "name": title} for slug, title in titles_of_forms().items()],
        "taxonomies": [{"slug": row.name, "name": row.label} for row in taxonomies],
    }
    if actor.can("agents.view"):
        answer["agents"] = [
            {"id": row.id, "name": row.name, "description": row.description}
            for row in only_enabled(list(all_agents()))
        ]
    return answer
