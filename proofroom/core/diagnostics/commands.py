"""The management commands that AI clients may be offered, each with the arguments that it may be given.

None writes a file, changes content or takes an address of another database; what is not listed here nobody can
offer. `MCP_COMMANDS` chooses among them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from django.apps import apps

from proofroom.core.errors import RuleViolation, invalid

_STORED: Final = frozenset({"SECRET_KEY", "DATABASE_URL", "REDIS_URL"})
MAX_ARGUMENTS: Final = 20


@dataclass(frozen=True, slots=True)
class Command:
    """`options` are the ones that it may be given, each with the pattern of its value, or None for one that takes
    none; with `takes_apps` names of this site's apps may stand beside them. `always` is added to each call.

    `secrets` are the variables that it needs beside those that are none; None stands for all of them.
    """

    name: str
    options: Mapping[str, str | None] = field(default_factory=dict)
    takes_apps: bool = False
    always: tuple[str, ...] = ()
    secrets: frozenset[str] | None = _STORED
    most: int = 20_000
    """Characters of its output that are answered."""
    is_of_code: bool = False
    """Whether it prints what stands in the code, which holds nobody's words: only secrets are looked for there."""


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
            # What workflows name is looked for among them.
            secrets=_STORED | {"WORKFLOW_SECRETS"},
        ),
        Command("showmigrations", options={"--list": None, "--plan": None}, takes_apps=True),
        Command("dump_mcp_context", always=("--out", "-"), most=400_000, is_of_code=True),
        Command("doctor", secrets=None),
        Command(
            "verify_activity",
            options={"--json": None, "--head": r"\d{1,19}:[0-9a-f]{64}"},
        ),
    )
}


def require_known_command(name: str) -> str:
    """The name, for `MCP_COMMANDS`. Raises `ValueError` for one that is not known here."""
    if name not in COMMANDS:
        raise ValueError(f"{name!r} is none of the commands that it knows: {', '.join(COMMANDS)}")
    return name


def find_command(name: str, allowed: Sequence[str]) -> Command:
    """The command of that name, where the operator offers it. Raises `RuleViolation` on `command`."""
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
    """The arguments as the command is given them: each value joined to its option, so that it cannot be read as
    another one. Raises `RuleViolation` on `args`."""
    if len(given) > MAX_ARGUMENTS:
        raise invalid("args", f"args has at most {MAX_ARGUMENTS} entries.")
    rest, taken = list(given), list[str]()
    while rest:
        argument = rest.pop(0)
        name, joined, value = argument.partition("=")
        if name in command.options:
            pattern = command.options[name]
            if pattern is None:
                if "=" in argument:
                    raise _refused(command, argument)
                taken.append(argument)
            else:
                value = value if joined else rest.pop(0) if rest else ""
                if not re.fullmatch(pattern, value):
                    raise invalid(
                        "args", f"{command.name} takes {name} with a value that fits {pattern}."
                    )
                taken.append(f"{name}={value}")
        elif command.takes_apps and argument in apps.app_configs:
            taken.append(argument)
        else:
            raise _refused(command, argument)
    return [*command.always, *taken]


def _refused(command: Command, argument: str) -> RuleViolation:
    """The argument is shown as far as it is worth, never as it is."""
    shown = argument[:60].encode("ascii", "backslashreplace").decode()
    known = [name if pattern is None else f"{name}=…" for name, pattern in command.options.items()]
    if command.takes_apps:
        known.append(f"of the apps {', '.join(sorted(apps.app_configs))}")
    return invalid(
        "args",
        f"{command.name} does not take {shown!r} here. It takes: {', '.join(known) or 'nothing'}.",
    )
