"""`http.js` sends the requests of all scripts: one reason per failure, and swaps preserve the focus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FAILURE = """async ([address, body]) => {
  const { fetchJson } = await import("/static/cms/http.js");
  const options = body ? { body } : {};
  return fetchJson(address, options).then(
    (data) => ({ data }),
    ({ reason, message, status }) => ({ reason, message, status }),
  );
}"""
SWAP = """async () => {
  const { swap } = await import("/static/cms/http.js");
  const added = [];
  document.addEventListener("cms:added", ({ detail }) => added.push(detail.root.id));
  const region = document.createElement("div");
  region.id = "region";
  region.innerHTML = "<a href='/a'>A</a><form action='/f'><button value='x'>old</button></form>";
  document.body.replaceChildren(region);
  const fresh = region.cloneNode(true);
  fresh.querySelector("button").textContent = "new";
  const isSame = swap(region, region.cloneNode(true));
  region.querySelector("button").focus();
  return [isSame, swap(region, fresh), document.activeElement.textContent, added];
}"""


@pytest.fixture
def page(chromium: Any, live_server: Any) -> Iterator[Any]:
    """Return a page of the site whose requests to /asked are answered by the test."""
    context = chromium.new_context(base_url=live_server.url)
    opened = context.new_page()
    opened.goto("/admin/login/")
    yield opened
    context.close()


@pytest.mark.parametrize(
    ("status", "body", "reason", "message"),
    [
        (403, '{"message": "Not yours."}', "forbidden", "Not yours."),
        (409, '{"message": "It moved."}', "conflict", "It moved."),
        (422, '{"error": "Too long."}', "invalid", "Too long."),
        (401, "{}", "signed-out", ""),
        (500, "<h1>Oh</h1>", "failed", ""),
        (200, "<h1>A page</h1>", "failed", ""),
    ],
)
def test_a_refusal_has_a_reason_and_the_sentence_of_the_server(
    page: Any, status: int, body: str, reason: str, message: str
) -> None:
    page.route("**/asked", lambda route: route.fulfill(status=status, body=body))

    found = page.evaluate(FAILURE, ["/asked", None])

    assert found == {"reason": reason, "message": message, "status": status}


def test_a_redirect_is_the_page_to_sign_in_and_no_answer_is_the_network(page: Any) -> None:
    page.route("**/asked", lambda route: route.abort())

    assert page.evaluate(FAILURE, ["/asked", None])["reason"] == "network"
    assert page.evaluate(FAILURE, ["/admin/inbox/", None])["reason"] == "signed-out"


def test_an_object_is_sent_as_json_with_the_token_of_the_cookie(page: Any) -> None:
    sent = []

    def answer(route: Any) -> None:
        sent.append(route.request)
        route.fulfill(status=200, body='{"done": true}')

    page.route("**/asked", answer)

    assert page.evaluate(FAILURE, ["/asked", {"a": 1}]) == {"data": {"done": True}}
    (request,) = sent
    (token,) = [one["value"] for one in page.context.cookies() if one["name"] == "csrftoken"]
    assert request.method == "POST"
    assert request.post_data_json == {"a": 1}
    assert request.headers["content-type"] == "application/json"
    assert request.headers["x-csrftoken"] == token


def test_a_swap_keeps_the_focus_and_tells_the_other_scripts(page: Any) -> None:
    assert page.evaluate(SWAP) == [False, True, "new", ["region"]]


TYPED_SWAP = """async () => {
  const { fetchPage, keepTyped, swap } = await import("/static/cms/http.js");
  const fields = "<input id='a' value='stored'><textarea name='b'></textarea><input type='checkbox' name='c'>";
  const region = document.createElement("div");
  region.innerHTML = `<p>old</p>${fields}`;
  document.body.replaceChildren(region);
  const type = (field, text) => {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const [a, b, c] = region.querySelectorAll("input, textarea");
  type(a, "sent");
  await new Promise((resolve) => { setTimeout(resolve, 20); });
  const asking = fetchPage("/asked");
  type(b, "typed since");
  c.checked = true;
  c.dispatchEvent(new Event("change", { bubbles: true }));
  b.focus();
  b.setSelectionRange(2, 5);
  const page = await asking;
  const isNew = swap(region, page.querySelector("#region"));
  const [freshA, freshB, freshC] = region.querySelectorAll("input, textarea");
  const { activeElement } = document;
  const selection = [freshB.selectionStart, freshB.selectionEnd];
  return [isNew, freshA.value, freshB.value, freshC.checked, activeElement === freshB, ...selection];
}"""


def test_a_swap_keeps_what_was_typed_since_the_page_was_asked_for(page: Any) -> None:
    fields = (
        "<input id='a' value='answered'><textarea name='b'></textarea>"
        "<input type='checkbox' name='c'>"
    )
    page.route(
        "**/asked",
        lambda route: route.fulfill(
            content_type="text/html", body=f"<div id='region'><p>new</p>{fields}</div>"
        ),
    )

    found = page.evaluate(TYPED_SWAP)

    assert found == [True, "answered", "typed since", True, True, 2, 5]
