"""Threat 53: no URL from users or content reaches the private network. Real sockets of this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from proofroom.core.diagnostics import doctor
from proofroom.core.errors import RuleViolation
from proofroom.core.http_client import CallRefused, Unreachable, check_url, fetch
from proofroom.core.http_client.address_guard import blocked_kind, target_of
from tests.receiver import Receiver, Reply, reach, serving

PUBLIC = "93.184.216.34"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with serving() as running:
        yield running


class Wire:
    """Records DNS queries and targets of connections. `answers` defines invented names."""

    def __init__(self) -> None:
        self.answers: dict[str, list[list[str]]] = {}
        self.asked: list[str] = []
        self.went: list[str] = []

    def resolve(self, host: str, port: object, *args: object, **kwargs: object) -> list[Any]:
        self.asked.append(host)
        answers = self.answers.get(host)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (address, port or 0),
            )
            for address in found
        ]


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    watched = Wire()
    connect = socket.socket.connect

    def noted(self: socket.socket, address: Any) -> None:
        watched.went.append(address[0])
        connect(self, address)

    monkeypatch.setattr(socket, "getaddrinfo", watched.resolve)
    monkeypatch.setattr(socket.socket, "connect", noted)
    return watched


def refusal(url: str) -> str:
    with pytest.raises(CallRefused) as caught:
        fetch("POST", url)
    return caught.value.reason


LITERALS = {
    "127.0.0.1": "127.0.0.1 is a loopback",
    "127.255.255.254": "127.255.255.254 is a loopback",
    "127.1": "127.0.0.1 is a loopback",
    "127.0.1": "127.0.0.1 is a loopback",
    "2130706433": "127.0.0.1 is a loopback",
    "0x7f000001": "127.0.0.1 is a loopback",
    "0x7f.1": "127.0.0.1 is a loopback",
    "0X7F.0.0.1": "127.0.0.1 is a loopback",
    "017700000001": "127.0.0.1 is a loopback",
    "0177.0.0.1": "127.0.0.1 is a loopback",
    "127.0.0.1.": "127.0.0.1 is a loopback",
    "１２７.0.0.1": "127.0.0.1 is a loopback",
    "127。0。0。1": "127.0.0.1 is a loopback",
    "①②⑦.⓪.⓪.①": "127.0.0.1 is a loopback",
    "localhost": "localhost leads to a loopback",
    "LOCALHOST": "localhost leads to a loopback",
    "ｌocalhost.": "localhost leads to a loopback",
    "hooks.localhost": "hooks.localhost leads to a loopback",
    "[::1]": "::1 is a loopback",
    "[0:0:0:0:0:0:0:1]": "::1 is a loopback",
    "[::ffff:127.0.0.1]": "::ffff:7f00:1 is a loopback",
    "[::ffff:7f00:1]": "::ffff:7f00:1 is a loopback",
    "[::ffff:a9fe:a9fe]": "::ffff:a9fe:a9fe is a metadata",
    "[::127.0.0.1]": "::7f00:1 is a reserved",
    "[64:ff9b::127.0.0.1]": "64:ff9b::7f00:1 is a loopback",
    "[64:ff9b::169.254.169.254]": "64:ff9b::a9fe:a9fe is a metadata",
    "[64:ff9b:1::8.8.8.8]": "64:ff9b:1::808:808 is a private",
    "[2002:7f00:1::]": "2002:7f00:1:: is a tunnel",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]": "2001:0:4136:e378:8000:63bf:80ff:fffe is a tunnel",
    "[::]": ":: is an unspecified",
    "0.0.0.0": "0.0.0.0 is an unspecified",  # noqa: S104
    "0": "0.0.0.0 is an unspecified",
    "10.0.0.1": "10.0.0.1 is a private",
    "172.31.255.255": "172.31.255.255 is a private",
    "192.168.1.1": "192.168.1.1 is a private",
    "100.64.0.1": "100.64.0.1 is a private",
    "[fd12::1]": "fd12::1 is a private",
    "[fec0::1]": "fec0::1 is a private",
    "169.254.1.1": "169.254.1.1 is a link-local",
    "[fe80::1]": "fe80::1 is a link-local",
    "169.254.169.254": "169.254.169.254 is a metadata",
    "2852039166": "169.254.169.254 is a metadata",
    "168.63.129.16": "168.63.129.16 is a metadata",
    "100.100.100.200": "100.100.100.200 is a metadata",
    "[fd00:ec2::254]": "fd00:ec2::254 is a metadata",
    "224.0.0.1": "224.0.0.1 is a multicast",
    "[ff02::1]": "ff02::1 is a multicast",
    "255.255.255.255": "255.255.255.255 is a reserved",
    "240.0.0.1": "240.0.0.1 is a reserved",
    "198.18.0.1": "198.18.0.1 is a reserved",
    "203.0.113.9": "203.0.113.9 is a reserved",
    "[2001:db8::1]": "2001:db8::1 is a reserved",
    "[100::1]": "100::1 is a reserved",
    "[4000::1]": "4000::1 is a reserved",
}


@pytest.mark.parametrize("host", LITERALS, ids=ascii)
def test_threat_53_written_addresses_are_judged_however_they_are_written(
    host: str, receiver: Receiver, wire: Wire
) -> None:
    url = receiver.url("/?token=hidden", host=host)

    reason = refusal(url)
    with pytest.raises(RuleViolation) as caught:
        check_url(url, "address")

    assert reason == (
        f"{LITERALS[host]} address, which this site does not call. "
        "OUTGOING_ALLOWED_HOSTS can allow it."
    )
    assert caught.value.details == {"address": [reason]}
    assert (wire.asked, wire.went, receiver.connections) == ([], [], 0)


@pytest.mark.parametrize(
    "answer",
    [
        ["127.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["10.1.2.3"],
        ["169.254.169.254"],
        ["0.0.0.0"],  # noqa: S104
        ["fe80::1%2"],
        [PUBLIC, "127.0.0.1"],
        ["127.0.0.1", PUBLIC],
        ["2606:2800:220:1:248:1893:25c8:1946", PUBLIC, "::1"],
    ],
    ids=",".join,
)
def test_threat_53_a_name_with_one_private_address_is_refused(
    answer: list[str], receiver: Receiver, wire: Wire
) -> None:
    wire.answers["hooks.example"] = [answer]
    url = receiver.url("/?token=hidden", host="hooks.example")

    check_url(url)
    reason = refusal(url)

    assert reason.startswith("hooks.example leads to a")
    assert reason.endswith(
        " address, which this site does not call. OUTGOING_ALLOWED_HOSTS can allow it."
    )
    assert (wire.asked, wire.went, receiver.connections) == (["hooks.example"], [], 0)


def test_threat_53_a_name_that_changes_its_answer_is_asked_once(
    receiver: Receiver, wire: Wire
) -> None:
    wire.answers["hooks.example"] = [[PUBLIC], ["127.0.0.1"]]

    with pytest.raises(Unreachable) as caught:
        fetch("POST", receiver.url(host="hooks.example"))

    # The tests' own guard stops the connection to the public address; the target is what counts.
    assert caught.value.reason == "hooks.example could not be connected to."
    assert (wire.asked, wire.went, receiver.connections) == (["hooks.example"], [PUBLIC], 0)


def test_threat_53_a_name_that_turns_private_is_refused_at_the_next_call(
    receiver: Receiver, wire: Wire
) -> None:
    wire.answers["hooks.example"] = [[PUBLIC], ["127.0.0.1"]]
    url = receiver.url(host="hooks.example")

    with pytest.raises(Unreachable):
        fetch("POST", url)
    reason = refusal(url)

    assert reason.startswith("hooks.example leads to a loopback address")
    assert (wire.went, receiver.connections) == ([PUBLIC], 0)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_threat_53_redirects_are_answers_that_nobody_follows(
    settings: Any, wire: Wire, status: int
) -> None:
    reach(settings, "hooks.example")
    wire.answers["hooks.example"] = [["127.0.0.1"]]
    with serving() as inner, serving() as outer:
        outer.say("/hook", Reply(status, headers={"Location": inner.url("/secret")}))
        answer = fetch("POST", outer.url("/hook", host="hooks.example"))

        assert (answer.status, answer.headers["location"]) == (status, inner.url("/secret"))
        assert inner.connections == 0


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_threat_53_no_proxy_takes_the_judged_address_away(
    settings: Any, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    reach(settings)
    with serving() as proxy:
        monkeypatch.setenv(variable, proxy.url())
        answer = fetch("POST", receiver.url("/hook"))

        assert answer.status == 200
        assert (len(receiver.requests), proxy.connections) == (1, 0)


@pytest.mark.parametrize(
    ("words", "host", "answer"),
    [
        (("hooks.example",), "hooks.example", ["127.0.0.1"]),
        (("HOOKS.example.",), "Hooks.Example", ["127.0.0.1"]),
        (("127.0.0.0/8",), "hooks.example", ["127.0.0.1"]),
        (("127.0.0.1",), "hooks.example", ["127.0.0.1"]),
        (("127.0.0.1",), "127.1", []),
        (("127.0.0.1",), "localhost", ["127.0.0.1"]),
        (("bücher.example".encode("idna").decode(),), "bücher.example", ["127.0.0.1"]),
    ],
    ids=["name", "case", "network", "address", "literal", "localhost", "idna"],
)
def test_what_the_operator_allows_is_reached(
    settings: Any, receiver: Receiver, wire: Wire, words: tuple[str, ...], host: str, answer: Any
) -> None:
    reach(settings, *words)
    wire.answers = {
        name: [answer] for name in ("hooks.example", "localhost", "xn--bcher-kva.example")
    }

    assert fetch("POST", receiver.url(host=host)).status == 200

    [seen] = receiver.requests
    named = {"127.1": "127.0.0.1", "bücher.example": "xn--bcher-kva.example"}.get(
        host, host.lower()
    )
    assert seen.headers["host"] == f"{named}:{receiver.port}"
    assert wire.went == ["127.0.0.1"]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("other.example",), ["127.0.0.1"]),
        (("example",), ["127.0.0.1"]),
        (("evil-hooks.example",), ["127.0.0.1"]),
        (("10.0.0.0/8",), ["127.0.0.1"]),
        (("127.0.0.1",), ["127.0.0.1", "127.0.0.2"]),
        (("127.0.0.1",), ["::1"]),
    ],
    ids=str,
)
def test_what_the_operator_allows_is_no_more_than_that(
    settings: Any, receiver: Receiver, wire: Wire, words: tuple[str, ...], answer: list[str]
) -> None:
    reach(settings, *words)
    wire.answers["hooks.example"] = [answer]

    reason = refusal(receiver.url(host="hooks.example"))

    assert reason.startswith("hooks.example leads to a loopback address")
    assert (wire.went, receiver.connections) == ([], 0)


def test_an_allowed_network_holds_for_other_ways_of_writing_it(
    settings: Any, receiver: Receiver
) -> None:
    reach(settings)

    assert target_of(receiver.url(host="[::ffff:127.0.0.1]")).host == "::ffff:7f00:1"
    assert target_of(receiver.url(host="[64:ff9b::127.0.0.1]")).host == "64:ff9b::7f00:1"


def test_the_next_address_of_a_name_is_tried(settings: Any, receiver: Receiver, wire: Wire) -> None:
    reach(settings)
    wire.answers["hooks.example"] = [["127.0.0.9", "127.0.0.1"]]

    assert fetch("POST", receiver.url(host="hooks.example")).status == 200
    assert wire.went == ["127.0.0.9", "127.0.0.1"]


def test_an_unknown_name_is_reported(wire: Wire) -> None:
    with pytest.raises(Unreachable) as caught:
        fetch("POST", "http://hooks.example/?token=hidden")

    assert caught.value.reason == "The name hooks.example could not be resolved."


@pytest.mark.parametrize("address", [PUBLIC, "1.1.1.1", "2606:4700::1111", "64.233.160.1"])
def test_public_addresses_are_public(address: str) -> None:
    assert blocked_kind(ip_address(address)) == ""


def test_a_public_address_behind_a_translator_is_public() -> None:
    assert target_of("http://[64:ff9b::8.8.8.8]/").literal == ip_address("64:ff9b::808:808")


def test_the_doctor_names_what_is_allowed(settings: Any) -> None:
    [closed] = doctor.outgoing()
    reach(settings, "intranet.example", "10.0.0.0/8")
    [opened] = doctor.outgoing()

    assert (closed.level, closed.found) == ("ok", "reach public addresses only")
    assert opened.level == "ok"
    assert opened.found.startswith("may also reach intranet.example, 10.0.0.0/8;")
