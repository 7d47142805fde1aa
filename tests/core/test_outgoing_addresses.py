"""Valid outgoing URLs. No name server is queried."""

from __future__ import annotations

import pytest

from proofroom.core.errors import RuleViolation
from proofroom.core.http_client import check_url
from proofroom.core.http_client.address_guard import target_of

SCHEME = "The address must begin with https:// or http://."
UNSEEN = "The address must not contain spaces or invisible characters."
NO_HOST = "The address has no host that could be called."
NO_NAME = "The host of the address is not a valid name."
NO_IP = "The host of the address is not a valid IP address."
USER = "The address must not contain a user name or a password; use a header."
PORT = "The port of the address must be 80, 443, or from 1024 to 65535."

WRONG = {
    "": SCHEME,
    "hooks.example": SCHEME,
    "//hooks.example/": SCHEME,
    "ftp://hooks.example/": SCHEME,
    "file:///etc/passwd": SCHEME,
    "gopher://hooks.example/": SCHEME,
    "javascript:alert(1)": SCHEME,
    "http+unix://hooks.example/": SCHEME,
    "http:hooks.example": NO_HOST,
    "http://": NO_HOST,
    "http:///path": NO_HOST,
    "http://:8000/": NO_HOST,
    "http://?a=1": NO_HOST,
    "http://./": NO_NAME,
    "http://hooks..example/": NO_NAME,
    "http://hooks.example/ x": UNSEEN,
    " http://hooks.example/": UNSEEN,
    "http://hooks.example/\r\nX-Evil: 1": UNSEEN,
    "http://hooks.example/\t": UNSEEN,
    "http://hooks.example/\0": UNSEEN,
    "http://hooks.example/\ud800": UNSEEN,
    "http://hooks.example/\u202e": UNSEEN,
    "http://hooks\u200b.example/": UNSEEN,
    "http://user@hooks.example/": USER,
    "http://user:secret@hooks.example/": USER,
    "http://hooks.example\\@127.0.0.1/": USER,
    "http://@hooks.example/": USER,
    "http://hooks.example\\.other.example/": NO_HOST,
    "http://hooks\u2100.example/": NO_HOST,
    "http://hooks%2eexample/": NO_HOST,
    "http://%31%32%37.0.0.1/": NO_HOST,
    "http://*.example/": NO_NAME,
    "http://hooks,example/": NO_NAME,
    "http://" + "a" * 64 + ".example/": NO_NAME,
    "http://" + "a." * 127 + "example/": NO_NAME,
    "http://xn--\u00fc.example/": NO_NAME,
    "http://256.1.1.1/": NO_IP,
    "http://1.2.3.4.5/": NO_IP,
    "http://08.8.8.8/": NO_IP,
    "http://hooks.1/": NO_IP,
    "http://4294967296/": NO_IP,
    "http://[::1/": NO_HOST,
    "http://[::g]/": NO_HOST,
    "http://[1.2.3.4]/": NO_HOST,
    "http://[fe80::1%25eth0]/": NO_HOST,
    "http://[2606:4700::1111]evil.example/": NO_HOST,
    "http://evil.example[2606:4700::1111]/": NO_HOST,
    "http://hooks.example:22/": PORT,
    "http://hooks.example:25/": PORT,
    "http://hooks.example:0/": PORT,
    "http://hooks.example:1023/": PORT,
    "http://hooks.example:65536/": PORT,
    "http://hooks.example:99999/": PORT,
    "http://hooks.example:-1/": NO_HOST,
    "http://hooks.example:８0/": NO_HOST,
    "http://hooks.example:80:80/": NO_HOST,
    "http://hooks.example/" + "a" * 2000: "The address may have at most 2000 characters.",
}


@pytest.mark.parametrize("url", WRONG, ids=lambda url: ascii(url[:60]))
def test_what_is_no_address_is_refused_with_a_reason(url: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        check_url(url)

    assert caught.value.details == {"url": [WRONG[url]]}


@pytest.mark.parametrize(
    ("url", "authority", "path"),
    [
        ("https://hooks.example", "hooks.example", "/"),
        ("HTTPS://Hooks.Example.:443/a/../b", "hooks.example", "/a/../b"),
        ("http://hooks.example:/?", "hooks.example", "/"),
        ("http://hooks.example:443/x", "hooks.example:443", "/x"),
        ("http://hooks.example:8080?a=b#c", "hooks.example:8080", "/?a=b"),
        ("http://my_host:1024/", "my_host:1024", "/"),
        ("https://straße.example/ä?ö", "xn--strae-oqa.example", "/%C3%A4?%C3%B6"),
        ("https://BÜCHER。example/", "xn--bcher-kva.example", "/"),
        ("https://hooks.example/a%2Fb|\"<>?x=%00&y='{}'", "hooks.example", None),
        ("https://[2606:4700::1111]:8443/", "[2606:4700::1111]:8443", "/"),
        ("https://134744072/", "8.8.8.8", "/"),
        ("https://hooks.example/" + "a" * 1978, "hooks.example", "/" + "a" * 1978),
    ],
    ids=lambda value: ascii(value[:40]) if value else "",
)
def test_an_address_is_read_in_one_way(url: str, authority: str, path: str | None) -> None:
    target = target_of(url)

    assert target.authority == authority
    assert target.path == (path or "/a%2Fb%7C%22%3C%3E?x=%00&y='%7B%7D'")
