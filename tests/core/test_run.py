"""`./run` installs only if needed, and the demo starts and ends as a unit."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from io import StringIO
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from benchmarks.processes import memory_of
from proofroom.accounts.models import User
from proofroom.core.diagnostics.doctor import examine
from proofroom.core.management.commands import demo
from proofroom.core.process_runner import Children, Program, fork, stopped_by_signals
from tests import make
from tests.commands import run_command
from tests.ports import free_port


def python(*arguments: str) -> list[str]:
    """Return a command for the running interpreter."""
    return [sys.executable, *arguments]


FAKE_UV = """#!/bin/sh
echo "$*" >>"$UV_LOG"
case $1 in venv) mkdir -p .venv/bin && ln -sf "$REAL_PYTHON" .venv/bin/python ;; esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Create the script with lock files and a fake uv that records its calls."""
    shutil.copy(settings.BASE_DIR / "run", tmp_path)
    for name in ("requirements.lock", "requirements-dev.lock"):
        (tmp_path / name).write_text("x==1\n")
    (tmp_path / "manage.py").write_text("import sys; print('manage', *sys.argv[1:])\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/uv").write_text(FAKE_UV)
    (tmp_path / "bin/uv").chmod(0o755)
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks/__main__.py").write_text("print('benchmarks')\n")
    return tmp_path


def run(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    outer = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
    return run_command(
        ["./run", *arguments],
        cwd=folder,
        env={
            **outer,
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "UV_LOG": str(folder / "uv.log"),
            "REAL_PYTHON": sys.executable,
            **environ,
        },
        timeout=60,
    )


def installed(folder: Path) -> list[str]:
    """Return the lock files installed since the last call."""
    log = folder / "uv.log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.write_text("")
    return [line.split()[-1] for line in lines if line.startswith("pip sync")]


def test_it_installs_once(checkout: Path):
    first = run(checkout, "check-me", "--now")

    assert (first.returncode, first.stdout) == (0, "manage check-me --now\n")
    assert installed(checkout) == ["requirements.lock"]

    run(checkout, "check-me")

    assert installed(checkout) == []


def test_it_installs_again_when_the_lock_changed(checkout: Path):
    run(checkout, "check-me")
    installed(checkout)
    (checkout / "requirements.lock").write_text("x==2\n")

    run(checkout, "check-me")

    assert installed(checkout) == ["requirements.lock"]


def test_changing_between_run_and_test_installs_once_more_only(checkout: Path):
    run(checkout, "check-me")
    run(checkout, "bench")
    assert installed(checkout) == ["requirements.lock", "requirements-dev.lock"]

    run(checkout, "check-me")
    run(checkout, "bench")

    assert installed(checkout) == []


def test_a_changed_lock_keeps_the_development_environment(checkout: Path):
    run(checkout, "bench")
    for name in ("requirements.lock", "requirements-dev.lock"):
        (checkout / name).write_text("x==2\n")
    installed(checkout)

    run(checkout, "check-me")

    assert installed(checkout) == ["requirements-dev.lock"]


def test_a_failed_installation_is_tried_again(checkout: Path):
    (checkout / "bin/uv").write_text(FAKE_UV + "case $1 in pip) exit 3 ;; esac\n")
    assert run(checkout, "check-me").returncode == 3
    (checkout / "bin/uv").write_text(FAKE_UV)
    installed(checkout)

    assert run(checkout, "check-me").returncode == 0
    assert installed(checkout) == ["requirements.lock"]


def test_an_installation_that_failed_half_way_counts_for_nothing(checkout: Path):
    run(checkout, "check-me")
    (checkout / "requirements.lock").write_text("x==2\n")
    (checkout / "bin/uv").write_text(FAKE_UV + "case $1 in pip) exit 3 ;; esac\n")
    run(checkout, "check-me")
    (checkout / "requirements.lock").write_text("x==1\n")
    (checkout / "bin/uv").write_text(FAKE_UV)
    installed(checkout)

    run(checkout, "check-me")

    assert installed(checkout) == ["requirements.lock"]


def test_no_argument_runs_the_demo(checkout: Path):
    assert run(checkout).stdout == "manage demo\n"


def test_the_tests_on_services_want_to_know_them(checkout: Path):
    done = run(checkout, "test-services", DATABASE_URL="postgresql://h/n")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Set DATABASE_URL and REDIS_URL")


def code(name: str, text: str) -> Program:
    """Return a program that runs this code."""
    return Program(name, "tests.core.run_code", (text,))


def children(*programs: Program, out: StringIO | None = None) -> Children:
    return Children(programs, environ={}, out=out or StringIO())


SLEEPER = code("sleeper", "import time; print('up'); time.sleep(60)")


def test_output_carries_the_name_of_its_program():
    out = StringIO()
    running = children(code("a", "print('one'); print('two')"), SLEEPER, out=out)
    running.start()

    ended = running.wait(lambda: None)
    running.stop()

    assert ended is not None
    assert ended.name == "a"
    assert {"a       | one", "a       | two"} <= set(out.getvalue().splitlines())


def test_a_signal_ends_all():
    running = children(SLEEPER, dataclasses.replace(SLEEPER, name="other"))
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM))

    with stopped_by_signals(running):
        running.start()
        timer.start()
        ended = running.wait(lambda: None)
        running.stop()

    assert ended is None
    assert running.exit_codes() == {"sleeper": -signal.SIGTERM, "other": -signal.SIGTERM}


def test_a_program_that_will_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("proofroom.core.process_runner.GRACE_SECONDS", 0.5)
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up'); time.sleep(60)"
    out = StringIO()
    running = children(code("deaf", deaf), out=out)
    running.start()
    while "up" not in out.getvalue():
        time.sleep(0.05)

    running.stop()

    assert running.exit_codes() == {"deaf": -signal.SIGKILL}


FORKING = """
import signal, sys
from proofroom.core.process_runner import Children, Program, stopped_by_signals

# Behind a shell that started the tests in the background it would be ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
loaded = object()  # what a copy finds, and a new process would not
sys.modules["loaded"] = loaded
programs = [
    Program(name, "tests.core.run_code", (text,))
    for name, text in zip(sys.argv[1::2], sys.argv[2::2])
]
children = Children(programs, environ={"GIVEN": "yes"}, out=sys.stdout, is_forking=True)
with stopped_by_signals(children):
    mine = children.start()
    if mine is None:
        print("first:", children.wait(lambda: None).name)
        children.stop()
        print(children.exit_codes())
if mine is not None:
    mine.run()
"""


def forked(**programs: str) -> str:
    """Return the output of these, run as forks of a process until the first one ends."""
    arguments = [text for pair in programs.items() for text in pair]
    done = subprocess.run(
        [sys.executable, "-c", FORKING, *arguments],
        cwd=settings.BASE_DIR,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout


def test_forked_programs_have_what_was_loaded_and_all_that_a_process_has():
    stopped = "import atexit, time; atexit.register(print, 'cleaned'); time.sleep(60)"
    looks = """
import os, signal, sys
print("loaded" in sys.modules, os.environ["GIVEN"], sys.argv[0].endswith("run_code.py"))
print(os.getsid(0) == os.getpid(), sys.stdin.read() == "")
print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
print(sorted(name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")))
import atexit; atexit.register(print, "cleaned")
sys.exit(5)
"""

    printed = forked(looks=looks, waits="import time; time.sleep(60)", stopped=stopped)

    lines = printed.splitlines()
    assert [line for line in lines if line.startswith("looks")] == [
        "looks   | True yes True",
        "looks   | True True",
        "looks   | True",
        "looks   | True",
        "looks   | ['0', '1', '2']",
        "looks   | cleaned",
    ]
    assert lines[-2:] == ["first: looks", "{'looks': 5, 'waits': -15, 'stopped': -15}"]


def test_forked_programs_end_with_the_code_of_what_ended_them():
    crashed = forked(broken="raise ValueError('no')", other="import time; time.sleep(60)")
    killed = forked(a="import os; os.kill(os.getpid(), 9)", b="import time; time.sleep(60)")

    assert "broken | ValueError: no" in crashed.splitlines()
    assert crashed.splitlines()[-1] == "{'broken': 1, 'other': -15}"
    assert killed.splitlines() == ["first: a", "{'a': -9, 'b': -15}"]


def test_a_process_with_threads_is_not_forked():
    thread = threading.Thread(target=(is_over := threading.Event()).wait)
    thread.start()
    try:
        with pytest.raises(RuntimeError, match="threads"):
            fork()
    finally:
        is_over.set()
        thread.join()


LOADING = """
import gc, os, threading
from django.db import connections
from proofroom.core.management.commands.demo import Command

def opened():
    found = {name: f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")}
    return {name: os.readlink(path) for name, path in found.items() if os.path.exists(path)}

before = opened()
Command().load()
new = [path for name, path in opened().items() if name not in before]
print(threading.active_count(), len(os.listdir("/proc/self/task")), gc.get_freeze_count() > 100_000)
print([one.connection for one in connections.all(initialized_only=True)])
print([path for path in new if not path.startswith("socket:")])
print(sum(path.startswith("socket:") for path in new))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the demo forks nothing")
def test_what_is_loaded_before_the_fork_opens_nothing():
    """Threads, connections and locks would be inherited by every program."""
    done = run_command(
        python("manage.py", "shell", "--verbosity", "0", "--no-imports", "-c", LOADING),
        check=True,
        timeout=120,
    )

    threads, connections, files, sockets = done.stdout.splitlines()
    assert threads == "1 1 True"
    assert set(connections.strip("[]").split(", ")) <= {"", "None"}
    assert files == "[]"
    # Those with which `proofroom.core.database_notifications` wakes its thread; it makes others after a fork.
    assert int(sockets) in (0, 2)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.4", "::", "cms.example"])  # noqa: S104
def test_the_demo_refuses_addresses_that_others_reach(host):
    with pytest.raises(CommandError, match="only listens on loopback addresses"):
        call_command("demo", host=host)


def test_the_demo_says_which_port_is_taken(tmp_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        done = run_command(
            python("manage.py", "demo"),
            env={**os.environ, "CMS_DATA_DIR": str(tmp_path), "PORT": str(port)},
        )

    assert done.returncode == 1
    assert f"Port {port} is in use" in done.stderr


def test_the_demo_starts_nothing_on_a_database_that_it_cannot_prepare(tmp_path: Path):
    (tmp_path / "cms.sqlite3").write_text("This is no database, but longer than its header is." * 9)
    environ = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
    environ |= {"CMS_DATA_DIR": str(tmp_path), "PORT": str(free_port())}

    done = run_command(python("manage.py", "demo"), env={**environ, "MCP_PORT": str(free_port())})

    assert done.returncode == 1
    assert "Ready" not in done.stdout
    assert done.stderr.count("file is not a database") >= 1
    assert done.stderr.count("Traceback") <= 2  # the library's error and Django's, of one process


@pytest.mark.django_db
def test_the_demo_prints_only_accounts_that_exist():
    people = {role: make.user(role) for role in ("admin", "editor", "translator")}
    make.user("ai_agent", "agent")
    for user in people.values():
        user.set_password(demo.PASSWORD)
        user.save()
    everybody = [user.email for user in people.values()]
    assert demo.demo_accounts() == everybody

    people["editor"].email = "mira@example.org"
    people["editor"].save()
    people["translator"].delete()
    assert demo.demo_accounts() == [people["admin"].email, "mira@example.org"]
    said = demo.describe_accounts(demo.demo_accounts())
    assert f"password {demo.PASSWORD}" in said
    assert "mira@example.org" in said

    people["admin"].set_password(make.PASSWORD)
    people["admin"].save()
    User.objects.filter(pk=people["editor"].pk).update(is_active=False)
    assert demo.demo_accounts() == []
    assert "demo-password" not in demo.describe_accounts([])


class Demo(demo.Command):
    """The demo without preparation and announcements."""

    is_forking = False

    def prepare(self) -> None:
        pass

    def load(self) -> None:
        pass

    def announce(self) -> None:
        pass


KILLED = "import os; os.kill(os.getpid(), 9)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (KILLED, "first was ended by SIGKILL, not by itself. Was there memory enough?"),
        ("raise SystemExit(3)", "first ended by itself with exit code 3; its last lines above say why."),
        ("print('done')", "first ended by itself with exit code 0; its last lines above say why."),
    ],
)  # fmt: skip
def test_the_demo_says_how_a_program_ended(text: str, said: str):
    running = children(code("first", text), SLEEPER)

    with pytest.raises(CommandError) as raised:
        Demo().supervise(running)

    assert str(raised.value) == said
    assert running.exit_codes()["sleeper"] == -signal.SIGTERM


def test_the_demo_says_that_its_preparation_was_killed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(demo, "fork", lambda: subprocess.Popen(python("-c", KILLED)))
    monkeypatch.setattr(Demo, "is_forking", True)
    running = children(SLEEPER)

    with pytest.raises(CommandError, match="The preparation of the database was ended by SIGKILL"):
        Demo().supervise(running)

    assert running.exit_codes() == {}


BOUND = """
import sys, time
from proofroom.core.process_runner import Children, Program

text = "import os, subprocess, sys, time; print(os.getpid(), flush=True);"
text += "own = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
text += "print(own.pid, flush=True); time.sleep(600)"
programs = [Program(name, "tests.core.run_code", (text,)) for name in ("one", "two")]
children = Children(programs, environ={}, out=sys.stdout, is_forking=sys.argv[1] == "forked")
mine = children.start()
if mine is None:
    time.sleep(600)
else:
    mine.run()
"""


def is_gone(pid: int) -> bool:
    """Return True if a process has ended; zombies count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("way", ["forked", "spawned"])
def test_programs_and_what_they_started_end_with_a_process_that_is_killed(way: str):
    first = subprocess.Popen(
        python("-c", BOUND, way), cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True
    )
    assert first.stdout is not None
    pids = [int(first.stdout.readline().split()[-1]) for _ in range(4)]
    assert not any(map(is_gone, pids))

    first.kill()
    first.wait()

    for _ in range(600):
        if all(map(is_gone, pids)):
            break
        time.sleep(0.05)
    assert [pid for pid in pids if not is_gone(pid)] == []
    first.stdout.close()


def becomes_empty(queue: Path) -> bool:
    """Wait up to 20 seconds until the queue is empty."""
    for _ in range(200):
        if not list(queue.glob("*.msg")):
            return True
        time.sleep(0.1)
    return False


def test_the_demo_answers_and_stops(tmp_path: Path):
    web, mcp = free_port(), free_port()
    environ = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
    environ |= {"CMS_DATA_DIR": str(tmp_path), "PORT": str(web), "MCP_PORT": str(mcp)}
    demo = subprocess.Popen(
        python("-u", "manage.py", "demo"),
        cwd=settings.BASE_DIR,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watchdog = threading.Timer(240, demo.kill)
    watchdog.start()
    seen: list[str] = []
    try:
        for line in demo.stdout or ():
            seen.append(line)
            if "translator@example.com" in line and any("Ready in" in old for old in seen):
                break
        assert demo.poll() is None, "".join(seen)
        with urlopen(f"http://127.0.0.1:{web}/admin/login/", timeout=10) as page:
            assert page.status == 200
            policy = page.headers["Content-Security-Policy"]
            assert "frame-src 'self' https://www.youtube-nocookie.com https://player." in policy
        with urlopen(f"http://127.0.0.1:{mcp}/health", timeout=10) as page:
            assert page.status == 200
        # There is no proxy in front that could set these headers.
        told = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"}
        asked = Request(f"http://127.0.0.1:{web}/robots.txt", headers=told)
        with urlopen(asked, timeout=10) as page:  # noqa: S310  # our own server
            assert f"Sitemap: http://127.0.0.1:{web}/sitemap.xml" in page.read().decode()
        enqueue = "from proofroom.core.tasks import sweep_events; sweep_events.delay()"
        subprocess.run(
            python("manage.py", "shell", "-v", "0", "-c", enqueue),
            cwd=settings.BASE_DIR,
            env=environ,
            check=True,
        )
        assert becomes_empty(tmp_path / "queue"), "the worker took nothing from the queue"
        if sys.platform == "linux":
            assert memory_of(demo.pid).proportional < 400 * 1024, "the programs share too little"
    finally:
        demo.send_signal(signal.SIGINT)
        rest, _ = demo.communicate(timeout=60)
        watchdog.cancel()

    assert demo.returncode == 0, rest
    for port in (web, mcp):
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.django_db
def test_the_doctor_finds_a_healthy_project_healthy():
    findings = list(examine())

    assert [finding for finding in findings if finding.level == "fail"] == []
    assert {"database", "migrations", "queue", "cache", "AI providers", "MCP"} <= {
        finding.subject for finding in findings
    }


def test_a_second_demo_on_the_same_folder_says_so_and_stops(tmp_path: Path):
    with demo.only_demo_of(tmp_path):
        with (
            pytest.raises(CommandError, match=f"Another demo uses {tmp_path}. Stop it"),
            demo.only_demo_of(tmp_path),
        ):
            pytest.fail("both demos run")
        other = tmp_path / "other"
        with demo.only_demo_of(other):
            assert other.is_dir()


def test_a_killed_demo_leaves_the_folder_free(tmp_path: Path):
    hold = (
        "import os, sys, django; django.setup()\n"
        "from pathlib import Path\n"
        "from proofroom.core.management.commands.demo import only_demo_of\n"
        "with only_demo_of(Path(sys.argv[1])):\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        python("-c", hold, str(tmp_path)),
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "cms_project.settings"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(CommandError), demo.only_demo_of(tmp_path):
            pytest.fail("both demos run")
    finally:
        process.kill()
        process.wait(30)

    with demo.only_demo_of(tmp_path):
        pass
