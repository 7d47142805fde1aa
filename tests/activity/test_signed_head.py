"""The signed head of the log, and the script that checks it from outside."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.core.management import CommandError, call_command

from proofroom.core.activity.chain import prune, seal_events
from proofroom.core.json import JsonObject
from proofroom.core.models import Event, Seal
from tests import make
from tests.activity.chain import happened, sealed

pytestmark = pytest.mark.django_db
SCRIPT = Path(__file__).resolve().parents[2] / "docs/how-to/check_activity_log.py"


def new_key(folder: Path, name: str = "key.pem") -> str:
    out = io.StringIO()
    call_command(
        "export_activity_head", key=folder / name, new_key=True, stdout=out, stderr=io.StringIO()
    )
    return out.getvalue().strip()


def export(folder: Path, name: str = "1", key: str = "key.pem") -> tuple[Path, Path]:
    head, log = folder / f"head-{name}.json", folder / f"log-{name}.jsonl"
    call_command("export_activity_head", head, key=folder / key, log=log, stderr=io.StringIO())
    return head, log


def check(public: str, log: Path, *heads: Path) -> tuple[int, str]:
    # Isolated, so that the script cannot import anything of this project.
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), public, str(log), *map(str, heads)],
        capture_output=True, text=True, timeout=60, check=False, cwd=log.parent,
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).strip()


def test_an_unchanged_log_passes(tmp_path: Path) -> None:
    sealed(3)
    public = new_key(tmp_path)
    first, _ = export(tmp_path)
    sealed(2)
    head, log = export(tmp_path, "2")

    # Three and two switches, and the entry of each export itself.
    assert check(public, log, head, first) == (
        0,
        "Unchanged: links 1 to 7; 7 entries whole, 0 in part.",
    )
    assert head.stat().st_mode & 0o077 == log.stat().st_mode & 0o077 == 0
    assert (tmp_path / "key.pem").stat().st_mode & 0o077 == 0
    assert Event.objects.filter(name="activity.exported", via="command").count() == 2


def change_entry(link: JsonObject) -> None:
    link["entry"]["actor_name"] = "mallory"


def change_details(link: JsonObject) -> None:
    link["details"] = {"id": "other"}


def change_digest(link: JsonObject) -> None:
    link["facts"] = "0" * 64
    del link["entry"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_entry, "Link 2: who did what, when or how was changed."),
        (change_details, "Link 2: what the entry says was changed."),
        (change_digest, "Link 2 was changed."),
    ],
)
def test_a_changed_log_is_found(
    tmp_path: Path, change: Callable[[JsonObject], None], message: str
) -> None:
    sealed(3)
    public = new_key(tmp_path)
    head, log = export(tmp_path)
    lines = log.read_text().splitlines()
    link = json.loads(lines[1])
    change(link)
    lines[1] = json.dumps(link)
    log.write_text("\n".join(lines) + "\n")

    assert check(public, log, head) == (1, message)


@pytest.mark.parametrize(
    ("removed", "message"),
    [(1, "Link 3 does not follow link 1."), (3, "The log ends at 3, and the head is of link 4")],
)
def test_a_removed_link_is_found(tmp_path: Path, removed: int, message: str) -> None:
    sealed(3)
    public = new_key(tmp_path)
    head, log = export(tmp_path)
    lines = log.read_text().splitlines(keepends=True)
    del lines[removed]
    log.write_text("".join(lines))

    status, said = check(public, log, head)
    assert status == 1
    assert said.startswith(message)


def test_a_rebuilt_log_is_found_by_an_earlier_head(tmp_path: Path) -> None:
    sealed(3)
    public = new_key(tmp_path)
    earlier, _ = export(tmp_path)
    Event.objects.filter(name="agent.switched").update(actor_name="mallory")
    Seal.objects.all().delete()
    Event.objects.update(is_sealed=False)
    seal_events()
    head, log = export(tmp_path, "2")

    assert check(public, log, head)[0] == 0
    status, said = check(public, log, head, earlier)
    assert status == 1
    assert "is not the one that was signed then" in said


def test_a_changed_head_or_another_key_is_found(tmp_path: Path) -> None:
    sealed(2)
    public, other = new_key(tmp_path), new_key(tmp_path, "other.pem")
    head, log = export(tmp_path)
    assert "signature is not of this key" in check(other, log, head)[1]
    changed = json.loads(head.read_text())
    changed["site"] = "https://example.org"
    head.write_text(json.dumps(changed))
    assert "signature is not of this key" in check(public, log, head)[1]


def test_texts_of_visitors_stay_inside(tmp_path: Path) -> None:
    make.form("contact")
    make.submission("contact", email="ann@example.org", message="Private words")
    seal_events()
    public = new_key(tmp_path)
    head, log = export(tmp_path)

    assert "Private words" not in log.read_text()
    status, said = check(public, log, head)
    assert status == 0
    assert not said.endswith(" 0 in part.")


def test_a_pruned_log_passes_if_its_entry_says_so(tmp_path: Path) -> None:
    happened(3)
    Event.objects.update(created_at="2020-01-01T00:00:00Z", attempts=99)
    seal_events()
    public = new_key(tmp_path)
    earlier = tmp_path / "earlier.json"
    call_command("export_activity_head", earlier, key=tmp_path / "key.pem", stderr=io.StringIO())
    sealed(1)
    assert prune(days=1) == 3
    head, log = export(tmp_path)

    # The earlier head is of a link that is gone by age.
    assert check(public, log, head, earlier) == (
        0,
        "Unchanged: links 4 to 6; 3 entries whole, 0 in part.",
    )
    log.write_text("".join(log.read_text().splitlines(keepends=True)[1:]))
    assert check(public, log, head)[1] == "The links before 5 were removed, and no entry says so."


def test_a_changed_database_is_not_signed(tmp_path: Path) -> None:
    [first, *_] = sealed(2)
    new_key(tmp_path)
    Event.objects.filter(pk=first.pk).update(actor_name="mallory")
    with pytest.raises(CommandError, match="was changed"):
        export(tmp_path)
    assert not (tmp_path / "head-1.json").exists()


def test_nothing_is_overwritten_and_only_the_right_key_signs(tmp_path: Path) -> None:
    sealed(1)
    new_key(tmp_path)
    export(tmp_path)
    with pytest.raises(CommandError, match="File exists"):
        export(tmp_path)
    with pytest.raises(CommandError, match="File exists"):
        new_key(tmp_path)
    other = generate_private_key(SECP256R1())
    (tmp_path / "ec.pem").write_bytes(
        other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    for name in ("ec.pem", "missing.pem"):
        with pytest.raises(CommandError, match="Cannot read the key"):
            export(tmp_path, "2", key=name)
    with pytest.raises(CommandError, match="Name the file"):
        call_command("export_activity_head", key=tmp_path / "key.pem")
