from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from kombu import Connection
from kombu.transport import filesystem

import cms_project.celery  # noqa: F401  # names the transport


@pytest.fixture
def connection(tmp_path: Path) -> Any:
    options = {
        "data_folder_in": str(tmp_path),
        "data_folder_out": str(tmp_path),
        "control_folder": str(tmp_path / "control"),
    }
    with Connection("filesystem://localhost", transport_options=options) as connection:
        yield connection


def test_every_message_is_read_whole_while_others_are_written(connection: Any) -> None:
    count, size = 300, 20_000
    queue = connection.SimpleQueue("busy")

    def write() -> None:
        with connection.clone() as own:
            for number in range(count):
                own.SimpleQueue("busy").put({"number": number, "text": "x" * size})

    writers = [Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    seen = []
    for _ in range(2 * count):
        message = queue.get(timeout=20)
        seen.append(message.payload["number"])
        message.ack()
    for writer in writers:
        writer.join()

    assert sorted(seen) == sorted([*range(count), *range(count)])


def test_a_damaged_message_is_stepped_over(connection: Any, tmp_path: Path) -> None:
    (tmp_path / "0_half.damaged.msg").write_text('{"body": "ha')
    # A name of its own: kombu remembers the bindings of a name for the whole process.
    queue = connection.SimpleQueue("damaged")
    queue.put("whole")

    assert queue.get(timeout=5).payload == "whole"


def test_a_message_being_written_is_not_seen(connection: Any, tmp_path: Path) -> None:
    (tmp_path / "0_early.part").write_text('{"body": "ha')

    assert connection.SimpleQueue("busy").qsize() == 0


def test_a_table_of_queues_is_whole_before_another_process_can_open_it(
    connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = connection.channel()
    tables = []
    bind = filesystem.Channel._queue_bind

    def look(self: Any, exchange: str, *args: str) -> None:
        tables.append(self._exchange_file(exchange).read_text())
        bind(self, exchange, *args)

    monkeypatch.setattr(filesystem.Channel, "_queue_bind", look)

    channel._queue_bind("started", "", "", "first")
    channel._queue_bind("started", "", "", "second")

    assert tables == ["[]", '[["", "", "first"]]']
    assert [one.queue for one in channel.get_table("started")] == ["second", "first"]
    assert not list(channel.control_folder.glob("*.part"))


def test_a_table_that_a_process_left_half_written_is_made_anew(connection: Any) -> None:
    channel = connection.channel()
    channel._queue_bind("half", "", "", "gone")
    channel._exchange_file("half").write_text("")

    channel._queue_bind("half", "", "", "here")

    assert [one.queue for one in channel.get_table("half")] == ["here"]
