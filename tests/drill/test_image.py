"""The steps of the Containerfile, executed in a clean Debian without a container engine, in a
`debootstrap` folder with `chroot`.

It does not cover layers, networks and limits. It needs root, Debian's `debootstrap`, and minutes.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.commands import run_command
from tests.deployment.written import ROOT
from tests.ports import free_port

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("debootstrap") is None,
        reason="it takes root and debootstrap",
    ),
]
CONTAINERFILE = ROOT / "deploy/Containerfile"
SUITE = "trixie"
"""The Debian release of that Python's base image."""
_STARTS_WITHIN = 120.0
_PASSED_ON = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_OF_THIS_MACHINE = ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt")
"""Files an engine would provide, to reach the package registry."""


def instructions() -> list[tuple[str, str]]:
    """Return the Containerfile as pairs of instruction and arguments."""
    text = re.sub(r"(?m)^#.*\n", "", CONTAINERFILE.read_text()).replace("\\\n", " ")
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in text.splitlines() if line]


@dataclass
class Image:
    """The result of the instructions so far."""

    root: Path
    workdir: str = "/"
    user: str = "root"
    environment: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def words(self, *command: str) -> list[str]:
        """Return a command that runs in a process with only the image's files."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        inside = f"cd {shlex.quote(self.workdir)} && exec {shlex.join(command)}"
        return [
            *("chroot", f"--userspec={self.user}", str(self.root), "/usr/bin/env", "-i"),
            *variables,
            *("/bin/sh", "-c", inside),
        ]

    def run(self, *command: str) -> str:
        done = subprocess.run(
            self.words(*command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def copy(self, source: str, target: str) -> None:
        """Copy files of the checkout. Git lists the files an engine would send without those of `.dockerignore`."""
        place = self.root / self.workdir.lstrip("/") / target
        listed = run_command(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", source],
            check=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, place / name)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    # The tests' umask makes new files private; an image's files must be readable.
    before = os.umask(0o022)
    root = tmp_path_factory.mktemp("image") / "root"
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=python3,python3-venv", SUITE, str(root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    if made.returncode != 0:
        os.umask(before)
        pytest.skip(f"debootstrap cannot make a Debian here: {made.stdout[-500:]}")
    root.parent.chmod(0o755)
    for name in _OF_THIS_MACHINE:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(f"/{name}", root / name)
    built = Image(root, environment={"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"})
    for name, value in os.environ.items():
        if name.upper().startswith(_PASSED_ON) and name != "PIP_FIND_LINKS":
            built.environment[name] = value
    # The base image has its Python there.
    built.run("python3", "-m", "venv", "/usr/local")
    for instruction, rest in instructions():
        carry_out(built, instruction, rest)
    yield built
    os.umask(before)
    shutil.rmtree(root, ignore_errors=True)


def carry_out(image: Image, instruction: str, rest: str) -> None:
    match instruction:
        case "FROM":
            assert re.search(r"/python:3\.\d+-slim$", rest), rest
        case "RUN":
            image.run("/bin/sh", "-c", rest)
        case "WORKDIR":
            image.workdir = rest
            (image.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "COPY":
            image.copy(*rest.split())
        case "ENV":
            image.environment |= dict(pair.split("=", 1) for pair in shlex.split(rest))
        case "USER":
            image.user = rest
        case "HEALTHCHECK":
            image.health = json.loads(rest.partition("CMD ")[2])
        case "CMD":
            image.command = json.loads(rest)
        case "VOLUME" | "EXPOSE":
            pass
        case _:
            raise AssertionError(f"what {instruction} does is not known here")


def test_the_image_is_not_root_and_may_not_change_its_code(image: Image) -> None:
    assert image.run("id", "-u").strip() == "10001"
    done = subprocess.run(image.words("touch", "/app/new"), capture_output=True, check=False)
    assert done.returncode != 0
    image.run("touch", "/data/new")


def test_the_image_has_its_static_files_and_every_extra(image: Image) -> None:
    files = list((image.root / "app/static-files/cms").glob("*.*.js"))
    assert files
    image.run("python", "-c", "import boto3, storages, psycopg, redis, onelogin.saml2.auth")
    assert not (image.root / "tmp/build").exists()


def test_the_image_starts_and_is_healthy(image: Image) -> None:
    port = str(free_port())
    image.run("python", "manage.py", "migrate", "--verbosity=0")
    command = [port if word == "8000" else word for word in image.command]
    health = [word.replace(":8000/", f":{port}/") for word in image.health]
    process = subprocess.Popen(
        image.words(*command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + _STARTS_WITHIN
        while subprocess.run(image.words(*health), capture_output=True, check=False).returncode:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < until, "it does not become healthy"
    finally:
        process.terminate()
        process.wait(60)
