"""The client of the benchmarks: fresh requests were never sent or answered before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks import load
from benchmarks.load import Series


@dataclass
class Site:
    """A server that answers each path with the path, or with `text`."""

    port: int = 0
    text: str = ""
    asked: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def answer(self, path: str) -> bytes:
        self.asked.append(path)
        self.answers.append(self.text or path)
        return self.answers[-1].encode()


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = found.answer(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Ignore errors, because a client that gives up breaks its connections."""

    server = Server(("127.0.0.1", 0), Handler)
    found.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


def run(site: Site, series: Series, most: int | None = None, connections: int = 2) -> int:
    """Load the site briefly, and return the number of answered requests."""
    result = load.run(
        site.port, series, status=200, seconds=0.05, connections=connections, least=6, most=most
    )
    return len(result.seconds)


def paths() -> Series:
    return load.get(lambda number: f"/{number}")


def test_no_load_repeats_a_request_of_one_before(site: Site) -> None:
    series = paths()

    count = run(site, series) + run(site, series)

    assert sorted(site.asked, key=lambda path: int(path[1:])) == [f"/{n}" for n in range(count)]


def test_a_load_ends_with_its_share(site: Site) -> None:
    series = paths()

    assert [run(site, series, most=7), run(site, series, most=7)] == [7, 7]
    assert len(set(site.asked)) == 14


def test_a_series_that_has_ended_does_not_begin_again(site: Site) -> None:
    series = paths()
    series.supply = 10
    run(site, series, most=8)

    with pytest.raises(SystemExit, match="All 10 requests were sent"):
        run(site, series)

    # The last one may still be on its way to the site.
    assert series.sent == 10
    assert len(set(site.asked)) == len(site.asked)


def test_an_answer_that_comes_twice_is_not_fresh(site: Site) -> None:
    site.text = "kept"
    run(site, paths())
    series = paths()
    series.is_fresh = True

    with pytest.raises(SystemExit, match="An answer came twice"):
        run(site, series)


def test_fresh_answers_differ_in_all_loads(site: Site) -> None:
    series = paths()
    series.is_fresh = True
    run(site, series)
    series.sent = 0

    with pytest.raises(SystemExit, match="An answer came twice"):
        run(site, series)


def test_what_changes_before_a_request_changes_for_it_alone(site: Site) -> None:
    def change(number: int) -> None:
        site.text = f"No. {number}"

    series = paths()
    series.is_fresh, series.change = True, change

    count = run(site, series, connections=4)

    # With more than one on the way, a later change would show in an earlier answer.
    assert site.asked == [f"/{number}" for number in range(count)]
    assert site.answers == [f"No. {number}" for number in range(count)]


@pytest.mark.parametrize(
    ("_case", "supply", "share"),
    [
        ("no end", None, None),
        ("as many for each", 47, 15),
        ("just enough", 36, 12),
    ],
)
def test_each_load_has_a_share(_case: str, supply: int | None, share: int | None) -> None:
    series = paths()
    series.supply = supply

    assert series.share(3, 12) == share


@pytest.mark.parametrize(("supply", "least"), [(35, 12), (29, 0)])
def test_too_few_fresh_answers_are_refused_before_anything_is_measured(
    supply: int, least: int
) -> None:
    series = paths()
    series.supply = supply

    with pytest.raises(SystemExit, match=f"{supply} fresh answers are too few for 3 loads"):
        series.share(3, least)
