"""The parsed pages on deployment and deploy/Procfile, so that tests repeat nothing of them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SITE_PAGE = DOCS / "how-to" / "deploy-processes.md"
MCP_PAGE = DOCS / "how-to" / "run-the-mcp-server.md"
PROCESSES_PAGE = DOCS / "reference" / "processes.md"


def recipe_pages() -> list[Path]:
    """Return the pages whose examples are the files of a project `shop`."""
    return [*sorted((DOCS / "how-to").glob("*.md")), DOCS / "reference" / "fields.md"]


def blocks(page: Path, language: str, heading: str = "") -> list[str]:
    """Return the examples of one language on a page in order, optionally after a heading."""
    text = page.read_text()
    _, _, rest = text.partition(heading) if heading else ("", "", text)
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", rest)


def first_start() -> list[str]:
    """Return the commands of "First start, and each new version"."""
    block = blocks(SITE_PAGE, "console", "## First start")[0]
    return [line.partition("#")[0].strip() for line in re.findall(r"(?m)^\$ (.*)$", block)]


def procfile() -> dict[str, str]:
    """Return the command of each process."""
    lines = (ROOT / "deploy" / "Procfile").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines)


def table_of_processes() -> dict[str, str]:
    """Return the abbreviated command of each process on the page."""
    rows = re.findall(r"(?m)^\| (\w+) \| `([^`]+)` \|", PROCESSES_PAGE.read_text())
    return dict(rows)


def nginx(port: int, ports: Mapping[int, int], certificate: Path, folder: Path) -> str:
    """Return the page's servers as one configuration: on `port`, before other ports, with our certificate."""
    servers = "\n".join([*blocks(SITE_PAGE, "nginx"), *blocks(MCP_PAGE, "nginx")])
    servers = servers.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
    servers = re.sub(r"(ssl_certificate) \S+;", rf"\1 {certificate.with_suffix('.pem')};", servers)
    servers = re.sub(
        r"(ssl_certificate_key) \S+;", rf"\1 {certificate.with_suffix('.key')};", servers
    )
    for written, used in ports.items():
        assert f"127.0.0.1:{written};" in servers
        servers = servers.replace(f"127.0.0.1:{written};", f"127.0.0.1:{used};")
    folders = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # Otherwise nginx would use an account that may not read the folder.
    user = "user root;\n" if os.geteuid() == 0 else ""
    return (
        f"{user}daemon off;\npid {folder}/pid;\nerror_log stderr warn;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{folders}{servers}\n}}\n"
    )


def script(page: Path, heading: str, number: int = 0) -> str:
    """Return the commands of a console example after a heading as a script for `sh`; 0 is the first one."""
    lines = blocks(page, "console", heading)[number].splitlines()
    assert all(line.startswith(("$ ", "> ")) for line in lines)
    return "".join(f"{line[2:]}\n" for line in lines)
