"""`@proofroom/client` with the types of this site: its tests, `tsc --strict`, and reads from a live server."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils.timezone import now

from tests import make
from tests.accounts.bearer import token_of
from tests.mcp import npm

pytestmark = [pytest.mark.clients, pytest.mark.django_db(transaction=True)]

FOLDER: Final = Path(settings.BASE_DIR, "frontend", "client")
TSC: Final = "node_modules/typescript/bin/tsc"
CHECK: Final = """
import { createClient, ProofroomError } from "CLIENT/dist/src/index.js";
import { richTextToHtml } from "CLIENT/dist/src/richtext/html.js";
import type { Module, Operations, Site } from "./site.js";

const cms = createClient<Site>({ baseUrl: process.argv[2]! });

function shown(module: Module): string {
  const props = { ...module.props, ...module.overrides };
  void props;
  switch (module.type) {
    case "hero":
      return module.props.title;
    case "prose":
      return richTextToHtml(module.props.content);
    default:
      return "";
  }
}

const titles: string[] = [];
for await (const post of cms.posts.all({ type: "blog", fields: ["title", "url"], perPage: 2 })) {
  titles.push(post.title);
}

const listed = await cms.posts.list({
  type: "blog",
  fields: ["title", "featuredMediaId"],
  include: ["media", "terms"],
});
const pictured = listed.data.find((post) => post.featuredMediaId);
const picture = listed.included.media[pictured?.featuredMediaId ?? ""];
const term = listed.included.terms[pictured?.taxonomyTermIds[0] ?? ""];

const draft = await cms.preview("draft-token").posts.list().catch((error: unknown) => error);
const refused = await cms.posts.list({ search: "x".repeat(201) }).catch((error: unknown) => error);

const found = await cms.resolve("/blog/linking", { include: ["modules.posts"] });
if (found?.type !== "post" || found.post.type !== "blog") throw new Error("no post of the blog");
const texts = found.post.modules.map(shown);
const shownPosts = Object.values(found.included.posts).map((post) => post.title);
const html = await cms.resolve("/blog/linking", { fields: ["type", "modules"], richtext: "html" });
if (html?.type !== "post") throw new Error("no post");
const written = html.post.modules.map((module) => module.type === "prose" && module.props.content.startsWith("<"));
const quotes = await cms.posts.list({ type: "testimonial", fields: ["customFields"] });
const rating: number | null | undefined = quotes.data[0]?.customFields.rating;

const all = await cms.resolveAll(["/blog/target", "/blog", "/left", "/nowhere"], { fields: ["title"] });
const redirect = all["/left"];
const since = process.argv[3]!;
const tags: string[] = [];
for await (const change of cms.changes(since)) tags.push(change.tag);

console.log(
  JSON.stringify({
    titles: titles.sort(),
    picture: [picture?.alt, picture?.mime, term?.name],
    text: texts.join(""),
    posts: shownPosts,
    written: written.includes(true),
    gone: await cms.resolve("/nowhere"),
    rating,
    code: refused instanceof ProofroomError ? refused.status : null,
    draft: draft instanceof ProofroomError ? draft.code : null,
    paths: Object.values(all).map((one) => one?.type ?? null),
    to: redirect?.type === "redirect" ? redirect.redirect.toPath : null,
    changed: tags.includes("redirects"),
    site: (await cms.get<Operations["public_site_retrieve"]["answer"]>("/api/public/site")).locale,
  }),
);
"""


@pytest.fixture(scope="module")
def client() -> Path:
    """Return the folder of the built client."""
    npm.installed(FOLDER)
    built = npm.node(TSC, "--project", "tsconfig.json", folder=FOLDER)
    assert built.returncode == 0, built.stdout
    return FOLDER


def test_the_tests_of_the_client_pass(client: Path) -> None:
    tests = sorted(str(path) for path in (client / "dist" / "tests").glob("*.test.js"))

    done = npm.node("--test", *tests, folder=client)

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_site_is_read_with_its_own_types(client: Path, live_server: Any, tmp_path: Path) -> None:
    target = make.post("Target", slug="target")
    post = make.post("Linking", markdown="## Top\n\n[this](/blog/target)")
    make.added_module(post, type="blog-list", props={"postIds": [str(target.pk)]})
    image, term = make.image("a.png", alt_text="A cup"), make.term("Filter")
    make.post("Third", featuredMediaId=str(image.pk), taxonomyTermIds=[str(term.pk)])
    make.post("Quote", type="testimonial", customFields={"quote": "Good", "rating": 5})
    make.redirect("/left", target.path)

    compiled = compiled_program(client, tmp_path, CHECK)
    assert compiled.returncode == 0, compiled.stdout
    since = (now() - timedelta(hours=1)).isoformat()
    done = npm.node(str(tmp_path / "check.js"), live_server.url, since, folder=client)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "titles": ["Linking", "Target", "Third"],
        "picture": ["A cup", "image/png", "Filter"],
        "text": 'Linking<h2 id="top">Top</h2>\n<p><a href="/blog/target">this</a></p>',
        "posts": ["Target"],
        "written": True,
        "gone": None,
        "rating": 5,
        "code": 422,
        "draft": "invalid_token",
        "paths": ["post", "list", "redirect", None],
        "to": "/blog/target",
        "changed": True,
        "site": "en",
    }


REFUSED: Final = {
    "void post.modules;": "Property 'modules' does not exist",
    "void post.featuredMediaId;": "Property 'featuredMediaId' does not exist",
    "void page.included.terms;": "Property 'terms' does not exist",
    'await cms.posts.list({ locale: "xx" });': """Type '"xx"' is not assignable""",
    'await cms.posts.list({ fields: ["titel"] });': """Type '"titel"' is not assignable""",
}
"""Lines, and what the compiler says about them."""


def test_what_was_not_asked_for_is_refused(client: Path, tmp_path: Path) -> None:
    program = """
    import { createClient } from "CLIENT/dist/src/index.js";
    import type { Site } from "./site.js";

    const cms = createClient<Site>({ baseUrl: "https://cms.example" });
    const page = await cms.posts.list({ type: "blog", fields: ["title", "url"], include: ["media"] });
    for (const post of page.data) {
      console.log(post.title, post.url, page.included.media["id"]?.alt);
      LINES
    }
    """

    done = compiled_program(client, tmp_path, program.replace("LINES", "\n".join(REFUSED)))

    errors = [line for line in done.stdout.splitlines() if "error TS" in line]
    assert len(errors) == len(REFUSED), done.stdout
    for line, error in zip(errors, REFUSED.values(), strict=True):
        assert error in line


def compiled_program(
    client: Path, folder: Path, program: str, *options: str
) -> CompletedProcess[str]:
    """Compile a program in a folder, as `check.ts`, with the types of the site as `site.ts`."""
    site, check = folder / "site.ts", folder / "check.ts"
    call_command("generate_types", "typescript", "--output", str(site), *options, stdout=StringIO())
    check.write_text(program.replace("CLIENT", str(client)))
    (folder / "package.json").write_text('{"type": "module"}')
    return npm.node(
        *(TSC, "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"),
        *("--target", "es2022", "--module", "nodenext", "--skipLibCheck"),
        *("--typeRoots", str(client / "node_modules" / "@types"), "--types", "node"),
        *(str(site), str(check)),
        folder=client,
    )


MANAGEMENT: Final = """
import { createApi, ProofroomError } from "CLIENT/dist/src/index.js";
import { operations, type Operations } from "./site.js";

const api = createApi<Operations>(operations, { baseUrl: process.argv[2]!, token: process.argv[3]! });
const made = await api("posts_create", { body: { type: "blog", title: "New" } });
const changed = await api("posts_update", { parameters: { post_id: made.id }, body: { title: "Newer" } });
const listed = await api("posts_list", { query: { type: "blog", per_page: 1 } });
const refused = await api("users_list").catch((error: unknown) => error);
// @ts-expect-error a post has a title
const empty = () => api("posts_create", { body: { type: "blog" } });
// @ts-expect-error the path needs an id
const lost = () => api("posts_retrieve");
void [empty, lost];

console.log(
  JSON.stringify({
    title: changed.title,
    total: listed.meta.total,
    code: refused instanceof ProofroomError ? refused.code : null,
  }),
);
"""


def test_the_whole_api_is_called_with_its_types(
    client: Path, live_server: Any, tmp_path: Path
) -> None:
    _, secret = token_of(make.user("editor"), "posts.view", "posts.create", "posts.edit")

    compiled = compiled_program(client, tmp_path, MANAGEMENT, "--api", "management")
    assert compiled.returncode == 0, compiled.stdout
    done = npm.node(str(tmp_path / "check.js"), live_server.url, secret, folder=client)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"title": "Newer", "total": 1, "code": "not_allowed"}
