"""Management commands for AI clients: listed ones, with listed arguments, in a process with a timeout."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from cms_project.folders import BASE_DIR
from mcp_bridge.management.commands.dump_mcp_context import build_context, context_text
from proofroom.core.diagnostics import command_runner
from proofroom.core.diagnostics.command_runner import environment_for, run_command
from proofroom.core.diagnostics.commands import COMMANDS, check_arguments
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.progress import CallCancelled, follow_progress
from tests import make
from tests.agents.environment import set_env
from tests.diagnostics.asking import refusal, told

pytestmark = pytest.mark.django_db
Play = Callable[[str], None]


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Replace a command's program by this one, whose only argument is `name`."""

    def play(source: str) -> None:
        monkeypatch.setattr(command_runner, "program", lambda: (sys.executable, "-c", source))

    return play


def test_a_command_of_the_list_is_run() -> None:
    found = told("run_ace_command", command="check", args=["--list-tags"])

    assert (found["command"], found["args"], found["exitCode"]) == ("check", ["--list-tags"], 0)
    assert "definitions" in found["output"].split()


def test_a_command_has_no_more_rights_in_the_database_than_its_tool(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"DATABASE_URL": "postgresql://cms@db/cms", "LANE_DATABASE_URL": "unused"}
    set_env(settings, lane_database_url="postgresql://proofroom_lane@db/cms")
    command = COMMANDS["showmigrations"]

    as_site = environment_for(command, environ)
    monkeypatch.setitem(connection.settings_dict, "USER", "proofroom_lane")
    as_agents = environment_for(command, environ)

    assert as_site["DATABASE_URL"] == "postgresql://cms@db/cms"
    assert as_agents["DATABASE_URL"] == "postgresql://proofroom_lane@db/cms"


def test_the_context_comes_as_the_answer_and_no_file(plays: Play) -> None:
    printed = StringIO()
    call_command("dump_mcp_context", "--out", "-", stdout=printed)
    assert printed.getvalue() == context_text(build_context())

    plays('import sys; print(sys.argv[1:], \'{"token": {"a": "b@example.com"}}\')')
    found = told("run_ace_command", command="dump_mcp_context")

    assert found["output"] == (
        "['dump_mcp_context', '--out', '-'] {\"token\": {\"a\": \"b@example.com\"}}\n"
    )


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("flush", "no command of this tool"),
        ("shell", "no command of this tool"),
        ("doctor", "is not offered (MCP_COMMANDS)"),
        ("chek", "Did you mean 'check'?"),
        ("check; id", "no command of this tool"),
        ("../check", "no command of this tool"),
        ("check\n", "no command of this tool"),
        ("", "no command of this tool"),
    ],
)
def test_other_commands_are_refused(plays: Play, command: str, said: str) -> None:
    plays("raise SystemExit('reached')")

    code, text = refusal("run_ace_command", command=command)

    assert code == "unknown_command"
    assert said in text
    assert "Offered: check, showmigrations, dump_mcp_context." in text


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("check", ["--settings=evil"]),
        ("check", ["--settings", "evil"]),
        ("check", ["--pythonpath=/srv"]),
        ("check", ["--database", "default"]),
        ("check", ["--deploy=1"]),
        ("check", ["--dep"]),
        ("check", ["--tag"]),
        ("check", ["--tag", "--settings=evil"]),
        ("check", ["--tag=a b"]),
        ("check", ["--fail-level", "error"]),
        ("check", ["-h"]),
        ("check", ["core; id"]),
        ("check", ["core\n"]),
        ("check", ["$(id)"]),
        ("check", ["--"]),
        ("check", [""]),
        ("check", ["ä"]),
        ("check", ["no_such_app"]),
        ("showmigrations", ["--database=other"]),
        ("showmigrations", ["/etc/passwd"]),
        ("dump_mcp_context", ["--out", "/srv/x"]),
        ("dump_mcp_context", ["--table", "/srv/x"]),
        ("doctor", ["anything"]),
        ("verify_activity", ["--head", "1:xyz"]),
        ("verify_activity", ["--head=1:" + "a" * 64 + "\n"]),
    ],
    ids=str,
)
def test_arguments_that_are_not_listed_are_refused(command: str, args: list[str]) -> None:
    with pytest.raises(RuleViolation) as refused:
        check_arguments(COMMANDS[command], args)

    assert list(refused.value.details) == ["args"]


@pytest.mark.parametrize(
    ("command", "args", "taken"),
    [
        (
            "check",
            ["--deploy", "--tag", "models", "content"],
            ["--deploy", "--tag=models", "content"],
        ),
        ("check", ["--fail-level=WARNING"], ["--fail-level=WARNING"]),
        ("dump_mcp_context", [], ["--out", "-"]),
        ("verify_activity", ["--head", "7:" + "a" * 64], ["--head=7:" + "a" * 64]),
    ],
)
def test_values_are_joined_to_their_options(
    command: str, args: list[str], taken: list[str]
) -> None:
    assert check_arguments(COMMANDS[command], args) == taken


@pytest.mark.parametrize("args", ["--deploy", ["x"] * 21, [1], ["nul\x00"], ["\ud800"], {}])
def test_other_shapes_of_arguments_are_refused(plays: Play, args: object) -> None:
    plays("raise SystemExit('reached')")

    assert refusal("run_ace_command", command="check", args=args)[0] == "invalid_arguments"


def test_a_command_that_fails_says_so(plays: Play) -> None:
    plays("import sys; print('out'); print('err', file=sys.stderr, flush=True); sys.exit(3)")

    found = told("run_ace_command", command="check")

    assert found["exitCode"] == 3
    assert sorted(found["output"].split()) == ["err", "out"]


def test_a_long_output_has_an_end(plays: Play) -> None:
    plays("print('x' * 3_000_000)")

    found = told("run_ace_command", command="check")

    assert found["output"] == "x" * 20_000
    assert found["leftOut"] == 3_000_001 - 20_000


def test_nothing_of_a_command_outlives_its_time(
    plays: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_runner, "COMMAND_TIMEOUT_SECONDS", 1.0)
    plays(
        "import subprocess, sys, time; child = subprocess.Popen(['sleep', '60']); "
        "print(child.pid, flush=True); time.sleep(60)"
    )

    found = told("run_ace_command", command="check")

    assert "exitCode" not in found
    assert found["stopped"] == "It had not ended after 1 seconds."
    assert _is_gone(int(found["output"]))


def test_a_cancelled_call_ends_its_command(plays: Play, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    plays(f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)")

    class Impatient:
        def report(self, done: float, total: float | None, message: str) -> None: ...

        def check(self) -> None:
            if mark.exists() and mark.read_text():
                raise CallCancelled

    with follow_progress(Impatient()), pytest.raises(CallCancelled):
        run_command(name="check", arguments=[], actor=make.actor("admin"))

    assert _is_gone(int(mark.read_text()))
    plays("print('again')")
    assert told("run_ace_command", command="check")["output"] == "again\n"


def test_one_command_runs_at_a_time() -> None:
    with command_runner._running:
        code, text = refusal("run_ace_command", command="check")

    assert (code, text) == ("busy", "Another command is running. Try again when it has finished.")


def test_a_command_gets_no_secret_that_it_can_do_without(plays: Play) -> None:
    environ = {
        "PATH": "/bin", "SECRET_KEY": "k", "DATABASE_URL_FILE": "/run/db", "AGENT_SECRET": "canary",
        "MCP_AUTH_TOKEN": "canary", "MCP_AUTH_HEADER_NAME": "X-Key", "MCP_AUTH_HEADER_VALUE": "canary",
        "AI_PROVIDER_OPENAI_API_KEY": "canary", "AWS_SECRET_ACCESS_KEY": "canary", "LOCALES": "en,de",
        "PYTHONSTARTUP": "/srv/x.py", "LD_PRELOAD": "/srv/x.so",
    }  # fmt: skip

    assert environment_for(COMMANDS["showmigrations"], environ) == {
        "PATH": "/bin", "SECRET_KEY": "k", "DATABASE_URL_FILE": "/run/db", "LOCALES": "en,de",
    }  # fmt: skip
    everything = environment_for(COMMANDS["doctor"], environ)
    assert set(everything) == set(environ) - {
        "AWS_SECRET_ACCESS_KEY",
        "PYTHONSTARTUP",
        "LD_PRELOAD",
    }


def test_a_command_has_no_input_and_no_shell(plays: Play) -> None:
    plays("import sys; print(sys.argv[1:], repr(sys.stdin.read()))")

    found = told("run_ace_command", command="check", args=["--tag", "models"])

    assert found["output"] == "['check', '--tag=models'] ''\n"


def test_what_it_says_holds_no_secret(plays: Play, settings: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"agent_secret": "canary-agent"})
    plays("print('canary-agent', 'by ann@example.com', 'token=abcdef')")

    found = told("run_ace_command", command="check")

    assert found["output"] == "[hidden] by [address] token=[hidden]\n"


def test_a_name_that_is_not_known_stops_the_start() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import cms_project.settings"],
        env={**os.environ, "MCP_COMMANDS": "check,flush"},
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr == (
        "MCP_COMMANDS is 'check,flush': 'flush' is none of the commands that it knows: "
        "check, showmigrations, dump_mcp_context, doctor, verify_activity.\n"
    )


def test_only_who_was_granted_it_runs_commands() -> None:
    with pytest.raises(NotAllowed):
        run_command(name="check", arguments=[], actor=make.actor("editor"))


def _is_gone(pid: int) -> bool:
    """Wait until a process has ended; killed processes need a moment, and unawaited ones stay zombies."""
    for _ in range(200):
        with suppress(FileNotFoundError, ProcessLookupError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
            if state != "Z":
                time.sleep(0.02)
                continue
        return True
    return False
