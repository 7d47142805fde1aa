"""Tests of every recipe of docs/how-to/, run inside a new project with the files of all of them.

`tests/deployment/test_own_project.py` copies this file into the project's tests.
"""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import CommandError, call_command
from django.template.loader import get_template
from django.test import Client
from mcp import Client as McpClient
from shop.asgi import application  # type: ignore[import-not-found]  # of the project
from shop.models import StockItem  # type: ignore[import-not-found]  # of the project

from agents_app.ai_settings import providers
from agents_app.models import AgentRun, AiSettings, RunReaction
from agents_app.providers.selection import default_provider
from agents_app.reactions.tool_calls import sweep_reactions
from agents_app.runs.creation import create_run
from agents_app.runs.execution import execute_run
from content.comparison.words.word_tables import word_table
from content.models import Post
from mcp_bridge.protocol.server import build_server
from proofroom.accounts.models import User
from proofroom.accounts.permission_labels import label_of, permission_choices
from proofroom.core.actor import Actor
from proofroom.core.outbox.dispatch import sweep
from proofroom.taxonomies.models import Term
from proofroom.webhooks.delivery_channels import build_request
from proofroom.webhooks.models import Delivery

pytestmark = pytest.mark.django_db(transaction=True)
JSON = "application/json"


@pytest.fixture
def admin() -> User:
    return User.objects.create_user("boss@example.com", "long-enough-7", role="admin")


@pytest.fixture
def client(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


def made(client: Client, **values: Any) -> Any:
    body = {"type": "product", "locale": "en", "title": "Bread", "slug": "bread", **values}
    answer = client.post("/api/posts", json.dumps(body), content_type=JSON)
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_site_messages_extend_the_products() -> None:
    assert word_table("en").are_opposites("lungo", "ristretto")
    assert word_table("en").are_opposites("open", "closed")


def test_a_module_and_a_post_type_and_a_group_make_a_page(client: Client) -> None:
    price = {"type": "price-tag", "scope": "local", "props": {"product": "Bread", "price": 2.5}}
    post = made(client, customFields={"sku": "B-1"}, modules=[price], status="published")
    assert post["customFields"]["sku"] == "B-1"

    page = Client().get("/products/bread").content.decode()
    assert "<strong>Bread</strong> 2.50" in page
    assert "Open on Sundays" in page
    groups = client.get("/api/module-groups").json()["data"]
    assert "product-default" in [group["name"] for group in groups]


def test_a_taxonomy_takes_terms(client: Client) -> None:
    body = {"name": "Summer", "slug": "summer", "locale": "en"}
    answer = client.post("/api/taxonomies/season/terms", json.dumps(body), content_type=JSON)
    assert answer.status_code == 201, answer.content
    assert Term.objects.get().taxonomy == "season"


def test_a_role_may_what_it_declares(client: Client) -> None:
    clerk = {
        "email": "c@example.com",
        "username": "c",
        "role": "clerk",
        "password": "long-enough-7",
    }
    answer = client.post("/api/users", json.dumps(clerk), content_type=JSON)
    assert answer.status_code == 201, answer.content
    user = User.objects.get(email="c@example.com")
    held = [user.has_perm(name) for name in ("stock.view", "posts.translate", "stock.edit")]
    assert held == [True, True, False]
    assert "clerk" in [row["role"] for row in client.get("/api/roles").json()["data"]]
    assert "Clerk" in client.get("/admin/proofroom_accounts/user/add/").content.decode()


def test_a_permission_is_called_by_its_label() -> None:
    assert label_of("stock.view") == "See the stock"
    choices = dict(permission_choices())
    assert ("stock.edit", "Change the stock") in [(str(a), str(b)) for a, b in choices["stock"]]


def test_an_endpoint_answers_and_is_described(client: Client) -> None:
    StockItem.objects.create(sku="B-1", amount=3)
    assert client.get("/api/stock").json() == {"items": 1}
    assert Client().get("/api/stock").status_code == 401
    described = client.get("/api/schema/?format=json").json()
    assert "/api/stock" in described["paths"]


def test_an_admin_page_opens(client: Client) -> None:
    StockItem.objects.create(sku="B-1", amount=3)
    page = client.get("/admin/shop/stockitem/").content.decode()
    assert "B-1" in page
    assert "Stock" in client.get("/admin/").content.decode()


def test_a_module_with_lists_in_lists_is_shown(client: Client) -> None:
    dishes = [{"name": "Soup", "price": 4.5, "isVegan": True}, {"name": "Bread"}]
    props = {
        "look": "boxed",
        "courses": [{"title": "First", "dishes": dishes}],
        "contact": {"phone": "+33 1"},
    }
    card = {"type": "menu-card", "scope": "local", "props": props}
    made(client, slug="lunch", customFields={"sku": "B-1"}, modules=[card], status="published")

    page = Client().get("/products/lunch").content.decode()
    assert "<li>Soup 4.50</li><li>Bread</li>" in page
    assert "<p>+33 1</p>" in page


def test_a_page_of_the_admin_has_the_navigation_and_asks_for_its_permission(client: Client) -> None:
    StockItem.objects.create(sku="B-1", amount=3)
    page = client.get("/admin/report/").content.decode()
    assert "<li>B-1: 3</li>" in page
    assert "/admin/shop/stockitem/" in page
    other = Client()
    other.force_login(User.objects.create_user("t@example.com", "long-enough-7", role="translator"))
    assert other.get("/admin/report/").status_code == 403


def test_an_importer_of_posts_runs_and_names_what_it_cannot_read(
    admin: User, tmp_path: Path
) -> None:
    (tmp_path / "products.txt").write_text("Bread; B-1; 2.5\nJam; B-2; dear\n")
    out = StringIO()
    with pytest.raises(CommandError, match="1 item could not be imported"):
        call_command("import", "products", tmp_path / "products.txt", stdout=out, stderr=out)
    assert "Jam; B-2; dear" in out.getvalue()
    post = Post.objects.get()
    assert (post.title, post.custom_fields) == ("Bread", {"sku": "B-1"})


def test_an_importer_runs(admin: User, tmp_path: Path) -> None:
    (tmp_path / "stock.csv").write_text("sku,amount\nB-1,3\nB-2,0\n")
    call_command("import", "stock", tmp_path / "stock.csv")
    assert dict(StockItem.objects.values_list("sku", "amount")) == {"B-1": 3, "B-2": 0}


def test_an_agent_runs_and_its_reactions_follow(client: Client, admin: User) -> None:
    post = made(client)
    AiSettings.objects.create(text_provider="demo")
    run = create_run(
        agent_id="price-checker", scope="dropdown", actor=Actor(admin, "admin"), post_id=post["id"]
    )
    execute_run(run.pk)
    assert AgentRun.objects.get(pk=run.pk).status == "succeeded"
    sweep(60)
    sweep_reactions()
    called, sent = RunReaction.objects.order_by("number")
    assert (called.kind, called.target, called.error) == ("mcp_tool", "note_check", "")
    assert (sent.kind, sent.target) == ("ticket", "tickets.example.com")
    assert sent.delivery_id is not None
    request = build_request(Delivery.objects.get(pk=sent.delivery_id))
    assert json.loads(request.body) == {"title": "Check the price of Bread", "run": str(run.pk)}
    page = client.get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()
    assert "<strong>Ticket</strong>" in page
    listed = client.get(f"/api/agent-runs/{run.pk}/reactions").json()["data"]
    assert [row["type"] for row in listed] == ["mcp_tool", "ticket"]
    schemas = client.get("/api/schema/?format=json").json()["components"]["schemas"]
    assert "ticket" in schemas["ReactionTypeEnum"]["enum"]


def test_a_websocket_tells_who_may_hear(client: Client) -> None:
    StockItem.objects.create(sku="B-1", amount=3)

    async def first_message(cookie: str) -> dict[str, Any]:
        headers = {"host": "127.0.0.1", "origin": "http://127.0.0.1", "cookie": cookie}
        scope = {
            "type": "websocket",
            "path": "/ws/stock/",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "subprotocols": [],
        }
        connection = ApplicationCommunicator(application, scope)
        await connection.send_input({"type": "websocket.connect"})
        answer = await connection.receive_output(60)
        if answer["type"] == "websocket.accept":
            answer = await connection.receive_output(60)
        return dict(answer)

    cookies = client.cookies.output(header="", sep=";")
    heard = async_to_sync(first_message)(cookies)
    assert json.loads(heard["text"]) == {"items": 1}
    assert async_to_sync(first_message)("")["type"] == "websocket.close"


def test_a_tool_is_called_over_mcp(admin: User) -> None:
    async def call() -> Any:
        async with McpClient(build_server()) as connection:
            listed = await connection.list_tools()
            done = await connection.call_tool("note_check", {"summary": "fine"})
            return [tool.name for tool in listed.tools], done.structured_content

    names, answer = async_to_sync(call)()
    assert "note_check" in names
    assert answer == {"noted": True}


def test_an_ai_provider_is_offered(client: Client) -> None:
    # AI_PROVIDER_ACME_API_KEY is in the environment of these tests.
    assert settings.CMS_ENV.api_key("acme") == "key"
    assert default_provider() == "acme"
    assert "acme" in [item.id for item in providers(AiSettings()) if item.is_configured]
    body = {"textProvider": "acme"}
    answer = client.put("/api/ai-settings", json.dumps(body), content_type=JSON)
    assert (answer.status_code, answer.json()["textProvider"]) == (200, "acme")


def test_settings_templates_and_theme_are_the_site_s() -> None:
    assert "https://maps.example" in settings.SECURE_CSP["frame-src"]
    # The .env of the project says so.
    assert settings.SHOP_PHONE == "+33 1"  # type: ignore[misc]  # of the project
    assert "shop" in get_template("site/footer.html").origin.name  # type: ignore[attr-defined]  # Django's own has it
    assert "#7a1f5c" in Path(finders.find("site/theme.css")).read_text()
    assert "https://maps.example" in Client().get("/")["Content-Security-Policy"]


def test_a_page_in_a_sites_language_has_its_texts() -> None:
    answer = Client().get("/fr/nulle-part")
    assert answer.status_code == 404
    assert 'lang="fr"' in answer.content.decode()
    assert "Page introuvable" in answer.content.decode()
