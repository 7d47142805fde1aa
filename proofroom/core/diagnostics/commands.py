"""Management commands that AI clients may run, each with its allowed arguments.

None writes a file, changes content or connects to another database. Commands that are not listed here cannot be
enabled. `MCP_COMMANDS` selects among them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from django.apps import apps

from proofroom.core.errors import RuleViolation, invalid

_STORAGE_SECRETS: Final = frozenset({"SECRET_KEY", "DATABASE_URL", "REDIS_URL"})
MAX_ARGUMENTS: Final = 20


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its allowed arguments.

    `options` maps each option to the pattern of its value, or None if it has no value. With `takes_apps` labels of
    installed apps are allowed, too. `always` is added to each call. `secrets` are the secret variables it needs; None
    means all of them.
    """

    name: str
    options: Mapping[str, str | None] = field(default_factory=dict)
    takes_apps: bool = False
    always: tuple[str, ...] = ()
    secrets: frozenset[str] | None = _STORAGE_SECRETS
    most: int = 20_000
    """Maximum number of characters of its output."""
    is_of_code: bool = False
    """True if it prints only code, no data of users: then only known secrets are redacted."""


COMMANDS: Final[Mapping[str, Command]] = {
    command.name: command
    for command in (
        Command(
            "check",
            options={
                "--deploy": None,
                "--list-tags": None,
                "--tag": r"[a-z_]{1,40}",
                "--fail-level": r"CRITICAL|ERROR|WARNING|INFO|DEBUG",
            },
            takes_apps=True,
            # The check verifies that the secrets named by workflows exist.
            secrets=_STORAGE_SECRETS | {"WORKFLOW_SECRETS"},
        ),
        Command("showmigrations", options={"--list": None, "--plan": None}, takes_apps=True),
        # `-` writes to the standard output instead of a file.
        Command("dump_mcp_context", always=("--out", "-"), most=400_000, is_of_code=True),
        Command("doctor", secrets=None),
        Command(
            "verify_activity",
            options={"--json": None, "--head": r"\d{1,19}:[0-9a-f]{64}"},
        ),
    )
}


def require_known_command(name: str) -> str:
    """Return the name for `MCP_COMMANDS`. Raises `ValueError` for an unknown command."""
    if name not in COMMANDS:
        raise ValueError(f"{name!r} is none of the commands that it knows: {', '.join(COMMANDS)}")
    return name


def find_command(name: str, allowed: Sequence[str]) -> Command:
    """Return an enabled command. Raises `RuleViolation` on `command`."""
    if name in allowed and name in COMMANDS:
        return COMMANDS[name]
    close = get_close_matches(name[:80], list(allowed), 1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    why = "is not offered (MCP_COMMANDS)" if name in COMMANDS else "is no command of this tool"
    known = ", ".join(allowed) or "none"
    raise invalid(
        "command", f"{name[:80]!r} {why}.{hint} Offered: {known}.", code="unknown_command"
    )


def check_arguments(command: Command, given: Sequence[str]) -> list[str]:
    """Return the checked arguments, each value joined to its option with `=`.

    A joined value cannot be read as another option. Raises `RuleViolation` on `args`.
    """
    if len(given) > MAX_ARGUMENTS:
        raise invalid("args", f"args has at most {MAX_ARGUMENTS} entries.")
    remaining, accepted = list(given), list[str]()
    while remaining:
        argument = remaining.pop(0)
        name, joined, value = argument.partition("=")
        if name in command.options:
            pattern = command.options[name]
            if pattern is None:
                if "=" in argument:
                    raise _argument_error(command, argument)
                accepted.append(argument)
            else:
                value = value if joined else remaining.pop(0) if remaining else ""
                if not re.fullmatch(pattern, value):
                    raise invalid(
                        "args", f"{command.name} takes {name} with a value that fits {pattern}."
                    )
                accepted.append(f"{name}={value}")
        elif command.takes_apps and argument in apps.app_configs:
            accepted.append(argument)
        else:
            raise _argument_error(command, argument)
    return [*command.always, *accepted]


def _argument_error(command: Command, argument: str) -> RuleViolation:
    """Return the error for an argument. The argument is shortened and escaped."""
    shown = argument[:60].encode("ascii", "backslashreplace").decode()
    known = [name if pattern is None else f"{name}=…" for name, pattern in command.options.items()]
    if command.takes_apps:
        known.append(f"of the apps {', '.join(sorted(apps.app_configs))}")
    return invalid(
        "args",
        f"{command.name} does not take {shown!r} here. It takes: {', '.join(known) or 'nothing'}.",
    )
