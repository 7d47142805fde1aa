"""A run that read what visitors or other sites wrote leads nobody where neither the post nor its beginner led."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from pydantic import BaseModel

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun
from agents_app.running.links import hosts_in, hosts_of, strings_in
from agents_app.running.payloads import shared_props
from agents_app.running.untrusted import UNTRUSTED
from content.layers import Layers
from core.errors import RuleViolation
from core.json import Json

_VOCABULARIES: Final = frozenset({"schema.org", "www.schema.org", "www.w3.org"})
"""Names in structured data that look like addresses, and lead nobody anywhere."""
_SHOWN: Final = 80


def refuse_new_links(
    run: AgentRun, agent: AgentDefinition, layers: Layers | None, answer: BaseModel
) -> None:
    """Raise `RuleViolation` on each place of an answer that names a host which nothing trusted names.

    Only for runs that read what nobody vouches for. `layers` are those from before the run.
    """
    if not run.has_read_untrusted:
        return
    said: Json = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    known = known_hosts(run, agent, layers)
    details: dict[str, list[str]] = {}
    for path, text in strings_in(said):
        new = sorted(hosts_of(text) - known)
        if new:
            shown = ", ".join(host[:_SHOWN] for host in new)
            details.setdefault(path, []).append(
                f"This leads to {shown}, which neither the post nor the request names. Leave it out: this run has "
                "read what visitors or other sites wrote, and may bring no links from there."
            )
    if details:
        first = next(iter(details.values()))[0]
        raise RuleViolation(first, code="new_link", details=details)


def known_hosts(run: AgentRun, agent: AgentDefinition, layers: Layers | None) -> frozenset[str]:
    """The hosts of the post in any layer, of this site, of the agent's own prompt, and of what a person asked for."""
    found = _own() | _VOCABULARIES | hosts_of(agent.llm_config.system_prompt)
    found |= hosts_of(run.note)
    if not _is_handed_on(run):
        context = run.context if isinstance(run.context, dict) else {}
        trusted = {name: value for name, value in context.items() if name != UNTRUSTED}
        found |= hosts_in(trusted) | hosts_of(run.open_ended_context)
    if layers is not None:
        for document in (layers.live, layers.review.document, layers.ai_review.document):
            found |= hosts_in(document.to_json())
        found |= hosts_in({**shared_props(layers.ai_review.document)})
    return frozenset(found)


def _is_handed_on(run: AgentRun) -> bool:
    """Whether another run began it: what that handed on, here or through another system, may be words of visitors."""
    first = run.first_try or run  # whose context the later tries have
    return run.has_read_untrusted and (first.via == "agent" or first.cause_run_id is not None)


def _own() -> set[str]:
    site = settings.CMS_ENV.site_url
    own = {host for host in settings.ALLOWED_HOSTS if "*" not in host and not host.startswith(".")}
    return own | ({urlsplit(str(site)).hostname or ""} if site else set())
