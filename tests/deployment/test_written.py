"""The deployment page, the Procfile and the image agree."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from cms_project.env import Environment
from proofroom_apps.starter.command_line import TEMPLATE
from tests.deployment.conftest import uv
from tests.deployment.written import (
    DOCS,
    MCP_PAGE,
    ROOT,
    blocks,
    first_start,
    procfile,
    table_of_processes,
)


def test_the_table_has_each_process_of_the_procfile() -> None:
    full = {name: shlex.split(command) for name, command in procfile().items()}
    short = {name: shlex.split(command) for name, command in table_of_processes().items()}
    assert list(short) == list(full)
    for name, words in short.items():
        rest = iter(full[name])
        left_out = [word for word in words if word not in ("…", "manage.py") and word not in rest]
        assert left_out == [], f"{name}: not in the Procfile, or in another order"


def test_the_image_runs_the_web_process() -> None:
    image = (ROOT / "deploy" / "Containerfile").read_text()
    (command,) = re.findall(r"(?m)^CMD (\[.*\])$", image)
    web = re.sub(r"\$\{PORT:-(\d+)\}", r"\1", procfile()["web"])
    assert json.loads(command) == shlex.split(web)
    ports = re.findall(r"--port (?:\$\{\w+:-)?(\d+)", " ".join(procfile().values()))
    assert re.findall(r"(?m)^EXPOSE (.*)$", image) == [" ".join(ports)]


@pytest.mark.parametrize("command", first_start())
def test_each_command_of_the_first_start_is_one_that_is_there(command: str) -> None:
    program, *words = shlex.split(command)
    if program == "pip":
        assert (ROOT / words[-1]).is_file()
    else:
        assert (program, words[0]) == ("python", "manage.py")


DEPLOY = ROOT / "deploy"

UNITS = sorted((DEPLOY / "systemd").glob("*.service"))

MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))

_VALIDATORS = ("kubernetes-validate==1.37.0", "check-jsonschema==0.39.0")

_OWN_IMAGE = {
    "context: .\n": "context: ..\n",
    "dockerfile: Containerfile": "dockerfile: deploy/Containerfile",
    "{{ project_name }}.asgi": "cms_project.asgi",
    "{{ project_name }}": "proofroom",
}
"""Differences of a new project's files from the product's."""


def commands() -> dict[str, list[str]]:
    """Return the arguments of each process, with default ports."""
    return {
        name: shlex.split(re.sub(r"\$\{\w+:-(\d+)\}", r"\1", command))
        for name, command in procfile().items()
    }


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]


def manifests(path: Path) -> list[Any]:
    return list(yaml.safe_load_all(path.read_text()))


def test_compose_starts_each_process_of_the_procfile() -> None:
    services = compose()
    for name, command in commands().items():
        # The image starts the web process by itself.
        assert name == "web" or services[name]["command"] == command
    assert set(services) - set(commands()) == {"db", "redis", "migrate", "caddy"}


def test_the_database_of_compose_has_a_connection_for_each_process() -> None:
    """The formula of docs/reference/processes.md: eleven per process, plus ten."""
    services = compose()
    [most] = re.findall(r"max_connections=(\d+)", " ".join(services["db"]["command"]))
    workers = {
        name: int(re.findall(r"--workers (\d+)", command)[0]) if "--workers" in command else 1
        for name, command in procfile().items()
    }
    processes = sum(
        count * services[name].get("deploy", {}).get("replicas", 1)
        for name, count in workers.items()
    )
    assert processes == 9
    assert 11 * processes + 10 <= int(most)


def test_only_the_proxy_of_compose_is_reached_from_outside() -> None:
    assert [name for name, service in compose().items() if "ports" in service] == ["caddy"]


@pytest.mark.parametrize("name", ["compose.yaml", "Caddyfile"])
def test_a_new_project_has_the_same(name: str) -> None:
    own = (TEMPLATE / name).read_text()
    for written, product in _OWN_IMAGE.items():
        own = own.replace(written, product)
    assert own == (DEPLOY / name).read_text()


def test_a_new_project_has_its_tests_run_at_every_push() -> None:
    """The same commands as `test_own_project.py` runs in a new project."""
    written = yaml.safe_load((TEMPLATE / ".github/workflows/tests.yaml").read_text())
    steps = written["jobs"]["tests"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [
        "./run test", "./run check", "./run makemigrations --check --dry-run",
    ]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_starts_its_process_on_this_machine_only(unit: Path) -> None:
    parser = RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as its documentation has it
    parser.read(unit)
    started = shlex.split(parser["Service"]["ExecStart"].replace("%%", "%"))
    command = commands()[unit.stem.removeprefix("proofroom-")]
    assert started[0] == f"/srv/proofroom/.venv/bin/{command[0]}"
    at_home = [word.replace("0.0.0.0", "127.0.0.1") for word in command[1:]]  # noqa: S104
    assert started[1:] == at_home


def test_the_target_has_each_process() -> None:
    names = {f"proofroom-{name}.service" for name in procfile()}
    assert {unit.name for unit in UNITS} == names
    [wanted] = re.findall(r"(?m)^Wants=(.*)$", (DEPLOY / "systemd/proofroom.target").read_text())
    assert set(wanted.split()) == names


def test_each_deployment_starts_its_process_with_probes() -> None:
    found = {}
    for one in manifests(DEPLOY / "kubernetes/proofroom.yaml"):
        if one["kind"] == "Deployment":
            [container] = one["spec"]["template"]["spec"]["containers"]
            found[container["name"]] = container["args"]
            # Workers have a port for their metrics only, which is open before they take tasks.
            is_server = {port["name"] for port in container.get("ports", [])} - {"metrics"} != set()
            assert is_server == ("livenessProbe" in container) == ("readinessProbe" in container)
    assert found == commands()


def test_one_beat_runs_at_a_time_and_several_mcp_servers() -> None:
    specs = {
        one["metadata"]["name"]: one["spec"]
        for one in manifests(DEPLOY / "kubernetes/proofroom.yaml")
        if one["kind"] == "Deployment"
    }
    beat = specs["proofroom-beat"]
    assert (beat["replicas"], beat["strategy"]["type"]) == (1, "Recreate")
    assert specs["proofroom-mcp"]["replicas"] > 1
    assert "strategy" not in specs["proofroom-mcp"]


def test_every_variable_is_one_that_the_product_reads() -> None:
    named: set[str] = set()
    for path in MANIFESTS:
        for one in manifests(path):
            named |= set(one.get("data", {})) | set(one.get("stringData", {}))
    named |= set(compose()["web"]["environment"])
    for image in (DEPLOY / "Containerfile", TEMPLATE / "Containerfile"):
        named |= set(re.findall(r"(CMS_\w+)=", image.read_text()))
    assert {name.lower() for name in named} <= set(Environment.model_fields)


@pytest.mark.deployment
def test_the_files_are_valid_by_their_schemas(tmp_path: Path) -> None:
    subprocess.run(
        [uv(), "venv", "--quiet", "--python", sys.executable, tmp_path / "tools"], check=True
    )
    python = tmp_path / "tools/bin/python"
    subprocess.run(
        [uv(), "pip", "install", "--quiet", "--python", python, *_VALIDATORS], check=True
    )
    forms = ROOT / ".github/ISSUE_TEMPLATE"
    for schema, files in {
        "vendor.compose-spec": [DEPLOY / "compose.yaml"],
        "vendor.github-workflows": [
            *sorted((ROOT / ".github/workflows").glob("*.yml")),
            TEMPLATE / ".github/workflows/tests.yaml",
        ],
        "vendor.github-issue-forms": sorted(forms.glob("*_*.yml")),
        "vendor.github-issue-config": [forms / "config.yml"],
    }.items():
        command = [python, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
        subprocess.run(command, check=True)
    subprocess.run([python.with_name("kubernetes-validate"), "--strict", *MANIFESTS], check=True)


@pytest.mark.deployment
@pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy is not installed")
def test_caddy_reads_its_file_and_the_examples_of_the_page(tmp_path: Path) -> None:
    files = [DEPLOY / "Caddyfile"]
    for number, block in enumerate(blocks(MCP_PAGE, "caddy")):
        files.append(tmp_path / f"Caddyfile{number}")
        files[-1].write_text(block)
    assert len(files) > 1
    for file in files:
        done = subprocess.run(
            ["caddy", "validate", "--adapter", "caddyfile", "--config", file],
            env={**os.environ, "SITE_HOST": "cms.example.com", "HOME": str(tmp_path)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "Valid configuration" in done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    for path in (*UNITS, DEPLOY / "systemd/proofroom.target"):
        # The programs do not exist here, so they are replaced by an existing one.
        text = re.sub(r"/srv/proofroom/.venv/bin/\w+", "/bin/true", path.read_text())
        (tmp_path / path.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *sorted(tmp_path.iterdir())],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "proofroom" not in done.stderr, done.stderr


def test_the_health_of_the_image_is_asked_at_its_port() -> None:
    image = (DEPLOY / "Containerfile").read_text()
    [asked] = re.findall(r"(?ms)^HEALTHCHECK.*?CMD (\[.*?\])$", image)
    assert "127.0.0.1:8000/health/live" in json.loads(asked)[-1]


def test_no_command_names_a_volume() -> None:
    """The names differ between projects: compose puts the project's name before them."""
    for page in DOCS.rglob("*.md"):
        for block in blocks(page, "console"):
            assert not re.search(r"docker (run|volume) ", block), page
