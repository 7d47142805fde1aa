"""docs/how-to/deploy-processes.md executed completely: its commands, processes and nginx, on PostgreSQL and Redis."""

from __future__ import annotations

import os
import re
import signal
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import redis

from tests.deployment.clean import CleanEnvironment
from tests.deployment.written import first_start, nginx, procfile
from tests.faults.processes import own_database
from tests.ports import free_port

HOST, MCP_HOST = "cms.example.com", "ai.example.com"
EMAIL, PASSWORD = "owner@example.com", "long-enough-for-tests-7"
SECRETS = {
    "SECRET_KEY": "only-for-tests-" + "k" * 50,
    "AGENT_SECRET": "signs-what-goes-out-" + "s" * 20,
    "AGENT_TRIGGER_SECRET": "lets-others-start-" + "t" * 20,
    "MCP_AUTH_TOKEN": "lets-ai-clients-in-" + "m" * 20,
}
THROUGH_NGINX = {"Host": HOST, "Origin": f"https://{HOST}"}
PAST_NGINX = {**THROUGH_NGINX, "X-Forwarded-Proto": "https", "X-Forwarded-For": "::1"}
"""Headers for requests that bypass nginx, as nginx would set them."""
STARTS_WITHIN, HAPPENS_WITHIN = 90.0, 60.0
_REDIS_DATABASE = 15  # the last of a Redis, which no other test uses
_Found = TypeVar("_Found")


def until(what: str, look: Callable[[], _Found | None], seconds: float = HAPPENS_WITHIN) -> _Found:
    """Return the result of a function, after waiting until it is true."""
    deadline = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:g} s"
        time.sleep(0.1)


@contextmanager
def own_redis() -> Iterator[str]:
    url = f"{os.environ['REDIS_URL'].rpartition('/')[0]}/{_REDIS_DATABASE}"
    client = redis.Redis.from_url(url)
    client.flushdb()
    try:
        yield url
    finally:
        client.flushdb()
        client.close()


class Person:
    """A user with a logged-in browser. `origin`: the target of its requests."""

    def __init__(self, origin: str, headers: Mapping[str, str]) -> None:
        self.http = httpx.Client(base_url=origin, headers=headers, verify=False, timeout=60)  # noqa: S501

    def log_in(self) -> None:
        self.send("POST", "/api/auth/login", json={"email": EMAIL, "password": PASSWORD})

    def send(self, method: str, path: str, **request: Any) -> Any:
        """Return the response to a request that must succeed."""
        # Cookies are stored by host name, while the connection goes to an IP address.
        cookies = {cookie.name: cookie.value for cookie in self.http.cookies.jar}
        headers = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
            "X-CSRFToken": cookies.get("csrftoken") or "",
        }
        answer = self.http.request(method, path, headers=headers, **request)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.http.cookies.set(name, value)
        return answer.json()

    def cookies(self) -> dict[str, str]:
        return {cookie.name: cookie.value or "" for cookie in self.http.cookies.jar}


@dataclass
class Site:
    """A running site."""

    environment: CleanEnvironment
    folder: Path
    port: int
    """Port of nginx."""
    web: tuple[str, str]
    """Addresses of the two web processes."""
    said: dict[str, str]
    """Output of each command of the first start."""

    @property
    def origin(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def person(self) -> Person:
        person = Person(self.origin, THROUGH_NGINX)
        person.log_in()
        return person


def run_first_start(
    environment: CleanEnvironment, lock: str = "requirements.lock", left_out: str = ""
) -> dict[str, str]:
    """Run the commands of the page one after another, with that lock file."""
    said = {}
    for line in first_start():
        command = line.replace("requirements.lock", lock)
        if left_out and left_out in command:
            continue
        if command.endswith("createsuperuser"):
            answers = {"Email": EMAIL, "Username": "owner", "Password": PASSWORD}
            said[command] = environment.answer(command, answers)
        else:
            said[command] = environment.run(command)
    return said


@contextmanager
def running(
    environment: CleanEnvironment, folder: Path, commands: Mapping[str, tuple[str, dict[str, str]]]
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Run named processes with their own variables; stop them at the end."""
    processes = {
        name: environment.start(command, folder / f"{name}.log", variables)
        for name, (command, variables) in commands.items()
    }
    try:
        yield processes
    finally:
        for process in processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in processes.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def self_signed(folder: Path) -> Path:
    certificate = folder / "certificate"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", f"/CN={HOST}",
         "-addext", f"subjectAltName=DNS:{HOST},DNS:{MCP_HOST}",
         "-keyout", f"{certificate}.key", "-out", f"{certificate}.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate


def trusting_all() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@contextmanager
def deployed(folder: Path, receiver_host: str) -> Iterator[Site]:
    """Yield the site of the page, with two web processes. Fails at the end if a log contains an error."""
    first, second, sockets, mcp, front = (free_port() for _ in range(5))
    with ExitStack() as stack:
        variables = {
            "DATABASE_URL": stack.enter_context(own_database()),
            "REDIS_URL": stack.enter_context(own_redis()),
            "SITE_URL": f"https://{HOST}",
            "TRUSTED_PROXIES": "1",
            "CMS_DATA_DIR": str(folder / "data"),
            "MCP_URL": f"https://{MCP_HOST}/mcp",
            "MCP_ALLOWED_HOSTS": MCP_HOST,
            "OUTGOING_ALLOWED_HOSTS": receiver_host,
            **SECRETS,
        }
        environment = CleanEnvironment(folder / "environment", variables)
        said = run_first_start(environment)

        programs = procfile()
        own = {
            "web": {"PORT": str(first)},
            "sockets": {"SOCKETS_PORT": str(sockets)},
            "mcp": {"MCP_PORT": str(mcp)},
        }
        commands = {name: (command, own.get(name, {})) for name, command in programs.items()}
        commands["web-2"] = (programs["web"], {"PORT": str(second)})
        ports = {8000: first, 8001: sockets, 8787: mcp}
        configuration = folder / "nginx.conf"
        configuration.write_text(nginx(front, ports, self_signed(folder), folder))
        commands["nginx"] = (f"/usr/sbin/nginx -e stderr -c {configuration}", {})

        processes = stack.enter_context(running(environment, folder, commands))
        site = Site(
            environment, folder, front, (f"http://127.0.0.1:{first}", f"http://127.0.0.1:{second}"), said,
        )  # fmt: skip
        for port in (first, second, mcp):
            address = f"http://127.0.0.1:{port}/health"
            until(f"an answer of {address}", lambda at=address: answers(at), STARTS_WITHIN)  # type: ignore[misc]
        yield site
        require_well(folder, processes)


def require_well(folder: Path, processes: Mapping[str, subprocess.Popen[bytes]]) -> None:
    """Fail unless all processes run and none has logged an error."""
    for name, process in processes.items():
        said = (folder / f"{name}.log").read_text(errors="replace")
        assert process.poll() is None, f"{name} has ended:\n{said}"
        assert not re.search(r"Traceback|\bERROR\b|\bCRITICAL\b", said), f"{name}:\n{said}"
