"""`manage.py new_agent ID`: writes a commented file as the start of a new agent."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from agents_app.agent_status import place_of
from agents_app.definitions.agents import FILES, catalogue, reload
from agents_app.definitions.schema import Scope
from agents_app.providers.vendors import all_vendors
from proofroom.core.definition_files import ID_MAX, ID_PATTERN, Unreadable
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import is_one_line

_PROMPT: Final = (
    "You are {{agent}}. You work on a post of type {{postType}} (scope: {{scope}}).",
    "Say here what is to be done, what a good answer is, and what must not be touched. State only what the post "
    "says. Leave out every field that is good already.",
    "What you will not do: say here what is none of its business. Where there is nothing to propose, decline.",
    "For a single field answer with its new value in the form of the present one. Close with a summary of what you "
    "changed and why, in one to three sentences.",
)
_FRONT: Final = """\
---
name: {name}
description: What it does, in one sentence, for the people who start it.
llmConfig:
  # Without a provider the AI settings choose, then the environment.
  # providerText: anthropic        # {providers}
  # modelText: …
  options:
    temperature: 0.3
    maxTokens: 4000
  # useMCP: true                   # lets it call tools; an empty or absent list means all
  # allowedMCPTools: [list_posts, get_post_context]
scopes:
{scopes}openEndedContext:
  enabled: true                    # whether people may add words of their own
  label: What should it look out for?
  maxChars: 2000
# userAccount: {{enabled: true, createAtBoot: true}}
# reactions:
#   - {{type: chat, trigger: on_error, config: {{template: "{{{{agent}}}} failed"}}}}
---
"""


def markdown_of(name: str, scopes: Sequence[Scope]) -> str:
    """Return the agent as Markdown with front matter."""
    entries = ""
    for scope in dict.fromkeys(scopes):
        entries += f"  - scope: {scope}\n    order: 50\n"
        entries += (
            "    # allowedFields: [post.title, module.hero.*]   # absent: all that agents may\n"
        )
        if scope == Scope.FIELD:
            entries += "    # fieldTypes: [text, textarea]   # or: fieldKeys: [post.title, module.hero.title]\n"
        elif scope == Scope.FORM_SUBMIT:
            entries += "    # formSlugs: [contact]\n"
    front = _FRONT.format(
        name=json.dumps(name, ensure_ascii=False),
        scopes=entries,
        providers=", ".join(all_vendors()),
    )
    return front + "\n\n".join(_PROMPT) + "\n"


def json_of(name: str, scopes: Sequence[Scope]) -> str:
    """Return the same agent as JSON, which has no comments."""
    values: JsonObject = {
        "name": name,
        "description": "What it does, in one sentence, for the people who start it.",
        "llmConfig": {
            "options": {"temperature": 0.3, "maxTokens": 4000},
            "useMCP": False,
            "systemPrompt": "\n\n".join(_PROMPT),
        },
        "scopes": [{"scope": scope.value, "order": 50} for scope in dict.fromkeys(scopes)],
        "openEndedContext": {
            "enabled": True,
            "label": "What should it look out for?",
            "maxChars": 2000,
        },
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


_NAME_MAX = 120


class Command(BaseCommand):
    """Never overwrites a file, and refuses an id that exists in any folder."""

    help = "Write a valid definition file for a new agent, with comments on the optional settings."
    # Broken files of other agents must not prevent a new one.
    requires_system_checks: list[str] = []  # Django's own shape

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", help="lowercase letters, digits and hyphens")
        parser.add_argument("--name", help="the display name")
        parser.add_argument(
            "--scope",
            action="append",
            choices=[scope.value for scope in Scope],
            help="a scope of the agent; can be repeated",
        )
        parser.add_argument("--folder", help="an app label or a folder; default: CMS_AGENTS_DIR")
        parser.add_argument("--json", action="store_true", help="write JSON instead of Markdown")

    def handle(self, *args: Any, **options: Any) -> None:
        agent_id = str(options["id"])
        if len(agent_id) > ID_MAX or not re.fullmatch(ID_PATTERN, agent_id):
            raise CommandError(
                f"{agent_id!r} is not a valid id: use up to {ID_MAX} lowercase letters, digits and hyphens."
            )
        reload()
        existing = catalogue().files.get(agent_id)
        if existing is not None:
            raise CommandError(f"Agent {agent_id!r} already exists in {place_of(existing)}.")
        name = options["name"] or agent_id.replace("-", " ").capitalize()
        if not is_one_line(name) or not 0 < len(name.strip()) <= _NAME_MAX:
            raise CommandError(f"The name must be one line of 1 to {_NAME_MAX} characters.")
        scopes = [Scope(scope) for scope in options["scope"] or [Scope.DROPDOWN]]
        text = (json_of if options["json"] else markdown_of)(name.strip(), scopes)
        # An app's `agents/`, the given path, or CMS_AGENTS_DIR.
        named = options["folder"]
        folder: Path | None = settings.CMS_ENV.cms_agents_dir
        if named in apps.app_configs:
            folder = Path(apps.get_app_config(named).path) / FILES.folder
        elif named:
            folder = Path(named)
        if folder is None:
            raise CommandError("Set CMS_AGENTS_DIR, or name the folder with --folder.")
        path = folder / f"{agent_id}{'.json' if options['json'] else '.md'}"
        # Leave no file if the folder is not writable or the file would be invalid.
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # `x` fails if the file exists, also when it appears between check and write.
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise CommandError(f"Cannot write {path}: {error.strerror}.") from None
        try:
            FILES.read_file(path)
        except Unreadable as error:
            path.unlink()
            field, reason = error.problems[0]
            raise CommandError(f"The file would be invalid: {field}: {reason}") from None
        reload()
        self.stdout.write(f"Wrote {path}")
        if path.parent not in FILES.folders():
            self.stdout.write(
                f"The site does not read this folder: set CMS_AGENTS_DIR={path.parent.resolve()}, or move the file."
            )
        self.stdout.write(
            "Next: write the prompt, and run `manage.py check` to validate the file. Restart the site to load it; "
            "with DEBUG it is reloaded automatically. Then run the agent on a post, and compare prompts with "
            "`manage.py replay_agent`."
        )
