"""A project made from the built wheel, in an environment without the checkout, starts and passes its own tests."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.deployment.written import ROOT
from tests.faults.processes import free_port

pytestmark = pytest.mark.deployment
_STARTS_WITHIN = 180.0
_PASSED_ON = (
    "PIP_",
    "UV_",
    "SSL_CERT_",
    "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
)


@dataclass(frozen=True)
class Project:
    folder: Path
    variables: dict[str, str]

    def run(self, *words: str) -> str:
        """What a command of the project says, which must end well."""
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}"
        return done.stdout


def uv() -> str:
    return shutil.which("uv") or str(ROOT / ".uv/bin/uv")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [uv(), "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)],
        check=True,
        timeout=300,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def project(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """`proofroom new shop`, run where nothing but the wheel and what it asks for is installed."""
    home = tmp_path_factory.mktemp("own-project")
    subprocess.run(
        [uv(), "venv", "--quiet", "--python", sys.executable, str(home / "tool")], check=True
    )
    subprocess.run(
        [uv(), "pip", "install", "--quiet", "--python", str(home / "tool/bin/python"), str(wheel)],
        check=True,
        timeout=600,
    )
    passed_on = {
        name: value for name, value in os.environ.items() if name.upper().startswith(_PASSED_ON)
    }
    if index := os.environ.get("PIP_INDEX_URL"):
        passed_on.setdefault("UV_DEFAULT_INDEX", index)
    variables = {
        **passed_on,
        # Where `./run` of the project finds this version, which no registry has.
        "UV_FIND_LINKS": str(wheel.parent),
        "PATH": f"{Path(uv()).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
    }
    made = Project(home, variables)
    assert "./run" in made.run("tool/bin/proofroom", "new", "shop")
    return Project(home / "shop", variables)


def test_the_wheel_has_what_the_product_reads_at_work(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    for kept in ("templates", "static", "locale", "docs"):
        files = {
            f"cms_project/product/{path.relative_to(ROOT)}"
            for path in (ROOT / kept).rglob("*")
            if path.is_file()
        }
        assert files <= names
    assert "agents_app/agents/general-assistant.md" in names
    assert not [name for name in names if re.match(r"(tests|benchmarks|frontend)/", name)]


def test_a_new_project_passes_its_own_tests(project: Project) -> None:
    assert re.search(r"\d+ passed", project.run("./run", "test"))


def test_a_new_project_is_found_right_by_the_checks(project: Project) -> None:
    assert "no issues" in project.run("./run", "check")
    assert "No changes detected" in project.run("./run", "makemigrations", "--check", "--dry-run")


def test_a_name_that_is_a_package_of_the_product_is_refused(project: Project) -> None:
    tool = str(project.folder.parent / "tool/bin/proofroom")
    done = subprocess.run(
        [tool, "new", "media"],
        cwd=project.folder.parent,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "media" in done.stderr
    assert not (project.folder.parent / "media").exists()


@pytest.fixture
def address(project: Project, tmp_path: Path) -> Iterator[str]:
    """The project, started by `./run` as a newcomer does."""
    port, mcp_port = free_port(), free_port()
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            ["./run"],
            cwd=project.folder,
            env={**project.variables, "PORT": str(port), "MCP_PORT": str(mcp_port)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            until = time.monotonic() + _STARTS_WITHIN
            while "Ready" not in (said := (tmp_path / "log").read_text()):
                assert process.poll() is None, said
                assert time.monotonic() < until, said
                time.sleep(0.5)
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)


def test_a_new_project_starts_with_what_it_adds(address: str) -> None:
    with httpx.Client(base_url=address) as client:
        home = client.get("/")
        assert home.status_code == 200
        (sheet,) = re.findall(r'href="([^"]*site/theme[^"]*\.css)"', home.text)
        assert "--accent" in client.get(sheet).text
        given = {"email": "admin@example.com", "password": "demo-password"}
        assert client.post("/api/auth/login", json=given).status_code == 200
        assert "opening-hours" in client.get("/api/modules/registry").text
