"""Agents are files: `agents/<id>.md` or `<id>.json` in any installed app, and in CMS_AGENTS_DIR.

A later folder replaces an agent of the same id. A file that cannot be read leaves its agent out and is a
system check error (`agents_app.checks`); it never takes the site down.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import yaml
from django.apps import apps
from django.conf import settings
from pydantic import ValidationError

from agents_app.schema import AgentDefinition

_SIZE_MAX = 200_000


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file, or a field of it, cannot be used."""

    file: Path
    field: str
    reason: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What the folders held at one moment; `stamps` are the files and when each was last changed."""

    agents: Mapping[str, AgentDefinition]
    files: Mapping[str, Path]
    problems: tuple[Problem, ...]
    stamps: tuple[tuple[Path, int], ...]


class _Unreadable(Exception):
    def __init__(self, *problems: tuple[str, str]) -> None:
        super().__init__(problems)
        self.problems = problems


_lock = Lock()
_catalogue: Catalogue | None = None


def all_agents() -> list[AgentDefinition]:
    """Every agent whose file can be read, in order of id; switched-off ones too."""
    return list(catalogue().agents.values())


def get_agent(agent_id: str) -> AgentDefinition | None:
    return catalogue().agents.get(agent_id)


def agents_for(
    scope: str,
    field_type: str | None = None,
    field_key: str | None = None,
    form_slug: str | None = None,
) -> list[AgentDefinition]:
    """The agents of a scope in ascending order, whatever their switch says. None leaves a limit unasked."""
    found = []
    for agent in all_agents():
        orders = [
            entry.order
            for entry in agent.entries(scope)
            if entry.serves(field_type=field_type, field_key=field_key, form_slug=form_slug)
        ]
        if orders:
            found.append((min(orders), agent.id, agent))
    return [agent for _, _, agent in sorted(found, key=lambda item: item[:2])]


def catalogue() -> Catalogue:
    """What the folders hold: read once, and in DEBUG again whenever a file changed."""
    global _catalogue
    with _lock:
        if _catalogue is None or (settings.DEBUG and _catalogue.stamps != _stamps()):
            _catalogue = _read()
        return _catalogue


def reload() -> None:
    """Forget what was read; the next question reads the folders again."""
    global _catalogue
    with _lock:
        _catalogue = None


def folders() -> list[Path]:
    """Where definitions are looked for, later ones winning."""
    found = [Path(app.path) / "agents" for app in apps.get_app_configs()]
    if settings.CMS_ENV.cms_agents_dir is not None:
        found.append(settings.CMS_ENV.cms_agents_dir)
    return [folder for folder in found if folder.is_dir()]


def _paths() -> Iterator[Path]:
    for folder in folders():
        for path in sorted(folder.iterdir()):
            if path.suffix in (".md", ".json") and not path.name.startswith(("_", ".")):
                yield path


def _stamps() -> tuple[tuple[Path, int], ...]:
    return tuple((path, path.stat().st_mtime_ns) for path in _paths())


def _read() -> Catalogue:
    agents: dict[str, AgentDefinition] = {}
    files: dict[str, Path] = {}
    problems: list[Problem] = []
    stamps = _stamps()
    for path, _ in stamps:
        agent_id = path.stem
        if files.get(agent_id, path).parent == path.parent and agent_id in files:
            twice = f"{files[agent_id].name} in the same folder defines {agent_id!r} too"
            problems.append(Problem(path, "id", twice))
            continue
        files[agent_id] = path
        try:
            agents[agent_id] = read_file(path)
        except _Unreadable as error:
            # Somebody meant to replace the earlier one; running that instead would be a surprise.
            agents.pop(agent_id, None)
            problems += [Problem(path, field, reason) for field, reason in error.problems]
    ordered = dict(sorted(agents.items()))
    return Catalogue(ordered, files, tuple(problems), stamps)


def read_file(path: Path) -> AgentDefinition:
    """The definition in a file."""
    values = _values(path)
    values.setdefault("id", path.stem)
    if values["id"] != path.stem:
        raise _Unreadable(("id", f"it is {values['id']!r}, but the file is named {path.name}"))
    try:
        return AgentDefinition.model_validate(values)
    except ValidationError as error:
        raise _Unreadable(
            *(
                (".".join(str(part) for part in item["loc"]), item["msg"])
                for item in error.errors(include_url=False, include_input=False)
            )
        ) from None


def _values(path: Path) -> dict[str, object]:
    try:
        if path.stat().st_size > _SIZE_MAX:
            raise _Unreadable(("file", f"it is larger than {_SIZE_MAX:,} bytes"))
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix == ".json" else _front_matter(text)
    except (OSError, UnicodeDecodeError) as error:
        raise _Unreadable(("file", f"it cannot be read: {error}")) from None
    except json.JSONDecodeError as error:
        raise _Unreadable(("file", f"it is no JSON: {error}")) from None
    except yaml.YAMLError as error:
        raise _Unreadable(
            ("front matter", f"it is no YAML: {' '.join(str(error).split())}")
        ) from None
    if not isinstance(values, dict):
        raise _Unreadable(("file", "it must hold fields by name"))
    return values


def _front_matter(text: str) -> object:
    """The YAML between the two `---` lines, with the body as `llmConfig.systemPrompt`."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---":
        raise _Unreadable(("front matter", "the file must begin with a line '---'"))
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise _Unreadable(("front matter", "there is no second line '---' that ends it"))
    values = yaml.safe_load("\n".join(lines[1:end]))
    if not isinstance(values, dict):
        raise _Unreadable(("front matter", "it must hold fields by name"))
    config = values.setdefault("llmConfig", {})
    body = "\n".join(lines[end + 1 :]).strip()
    if isinstance(config, dict) and body:
        if "systemPrompt" in config:
            raise _Unreadable(
                ("llmConfig.systemPrompt", "the body of the file is the prompt already")
            )
        config["systemPrompt"] = body
    return values
