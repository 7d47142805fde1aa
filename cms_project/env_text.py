"""Words about the environment: a sentence per wrong variable, and the text of `.env.example`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ValidationError

EXAMPLE_HEAD = """\
# Every variable, with its default. All are optional. Copy to .env, or set them in the environment.
# A secret may also come from a file: NAME_FILE=/path/to/file.
# Made by `python -m cms_project.env > .env.example`.
"""


def sentences(
    error: ValidationError, model: type[BaseModel], environ: Mapping[str, str]
) -> list[str]:
    """One sentence per wrong variable, which names it. The values of secrets are not shown."""
    found: dict[str, str] = {}
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        reason = item["msg"].removeprefix("Value error, ").removeprefix("Input ")
        if not item["loc"]:
            found.setdefault(reason, f"{reason}.")
            continue
        field = str(item["loc"][0])
        name = field.upper()
        value = environ.get(name)
        is_secret = bool(model.model_fields[field].json_schema_extra)
        shown = f"is {value!r}" if value is not None and not is_secret else "has a wrong value"
        found.setdefault(name, f"{name} {shown}: {reason}.")
    return list(found.values())


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(str(part) for part in value)
    if isinstance(value, Path):
        return value.as_posix()
    return str(value)


def example_of(model: type[BaseModel]) -> str:
    """The text of `.env.example`: each variable commented out, with its description and default."""
    lines = [EXAMPLE_HEAD]
    inherited = {name for base in model.__bases__ for name in getattr(base, "model_fields", {})}
    for name, field in sorted(model.model_fields.items(), key=lambda item: item[0] in inherited):
        lines.append(f"# {field.description}")
        lines.append(f"#{name.upper()}={_as_text(field.default)}")
    return "\n".join(lines) + "\n"
