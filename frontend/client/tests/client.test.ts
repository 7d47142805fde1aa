import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, ProofroomError } from "../src/index.js";
import { server } from "./server.js";
import type { Site } from "./sample_site.js";

const baseUrl = "https://cms.example";

test("a list sends its query in one order and with the names of the API", async () => {
  const { fetch, asked } = server({ body: { data: [], meta: { total: 0, per_page: 20 } } });

  await createClient<Site>({ baseUrl, fetch, token: "secret" }).posts.list({
    type: "blog",
    fields: ["title", "url"],
    filter: { publishedAt: { gte: "2026-01-01" }, slug: "a", "customFields.tags": { in: ["a,b", "c"] } },
    ordering: ["-publishedAt", "title"],
    perPage: 5,
    allLocales: true,
  });

  assert.deepEqual(asked[0]!.query, {
    allLocales: "true",
    fields: "title,url",
    "filter[customFields.tags][in]": "a\\,b,c",
    "filter[publishedAt][gte]": "2026-01-01",
    "filter[slug]": "a",
    ordering: "-publishedAt,title",
    per_page: "5",
    type: "blog",
  });
  assert.deepEqual(Object.keys(asked[0]!.query), [...Object.keys(asked[0]!.query)].sort());
  assert.equal(asked[0]!.headers["Authorization"], "Bearer secret");
});

test("all posts follow the cursor until its end", async () => {
  const row = (title: string) => ({ type: "blog", title });
  const { fetch, asked } = server(
    { body: { data: [row("a"), row("b")], meta: { total: 3, per_page: 100, next: "x" } } },
    { body: { data: [row("c")], meta: { total: 3, per_page: 100, next: null } } },
  );
  const titles: string[] = [];

  for await (const post of createClient<Site>({ baseUrl, fetch }).posts.all({ type: "blog" })) titles.push(post.title);

  assert.deepEqual(titles, ["a", "b", "c"]);
  assert.deepEqual(asked.map((one) => one.query["after"]), ["", "x"]);
  assert.equal(asked[0]!.query["per_page"], "100");
});

test("a search by relevance follows numbered pages from the page that is asked for", async () => {
  const page = (number: number) => ({
    body: { data: [{ title: String(number) }], meta: { total: 2, per_page: 1, current_page: number, last_page: 2 } },
  });
  const { fetch, asked } = server(page(1), page(2), page(2));
  const { posts } = createClient<Site>({ baseUrl, fetch });

  const titles = [];
  for await (const post of posts.all({ perPage: 1, search: "tea" })) titles.push(post.title);
  for await (const post of posts.all({ perPage: 1, page: 2 })) titles.push(post.title);

  assert.deepEqual(titles, ["1", "2", "2"]);
  assert.deepEqual(asked.map((one) => one.query["page"]), [undefined, "2", "2"]);
  assert.deepEqual(asked.map((one) => one.query["after"]), [undefined, undefined, undefined]);
});

test("an error has the sentence, the code and the fields of the CMS", async () => {
  const body = { error: "fields must be …", code: "invalid", details: { fields: ["No such field."] } };
  const { fetch } = server({ status: 422, body });

  await assert.rejects(createClient<Site>({ baseUrl, fetch }).posts.list(), (error: unknown) => {
    assert.ok(error instanceof ProofroomError);
    assert.deepEqual([error.status, error.code, error.message], [422, "invalid", "fields must be …"]);
    assert.deepEqual(error.details, { fields: ["No such field."] });
    return true;
  });
});

test("what is not there is null, and other errors are thrown", async () => {
  const missing = { status: 404, body: { error: "No.", code: "not_found", details: {} } };
  const { fetch } = server(missing, missing, missing, { status: 500, body: {} });
  const client = createClient<Site>({ baseUrl, fetch });

  assert.equal(await client.resolve("/nowhere"), null);
  assert.equal(await client.posts.get("x"), null);
  assert.equal(await client.menu("main"), null);
  await assert.rejects(client.resolve("/broken"), { status: 500 });
});

test("too many requests are repeated after the time that the answer names", async () => {
  const { fetch, asked } = server(
    { status: 429, headers: { "Retry-After": "0.01" }, body: { error: "Wait.", code: "too_many_requests" } },
    { body: { data: [], meta: { total: 0, per_page: 20 } } },
  );

  await createClient<Site>({ baseUrl, fetch }).posts.list();
  assert.equal(asked.length, 2);

  const strict = server({ status: 429, body: { error: "Wait.", code: "too_many_requests" } });
  await assert.rejects(createClient<Site>({ baseUrl, fetch: strict.fetch, retries: 0 }).posts.list(), { status: 429 });
});

test("many paths are asked for in portions", async () => {
  const paths = Array.from({ length: 101 }, (_, number) => `/${number}`);
  const answer = (part: string[]) => ({ body: { data: Object.fromEntries(part.map((one) => [one, { type: "not_found" }])) } });
  const { fetch, asked } = server(answer(paths.slice(0, 100)), answer(paths.slice(100)));

  const found = await createClient<Site>({ baseUrl, fetch }).resolveAll(paths, { fields: ["title"] });

  assert.equal(asked.length, 2);
  assert.deepEqual(asked[1]!.body, { paths: ["/100"], fields: ["title"] });
  assert.equal(Object.keys(found).length, 101);
  assert.equal(found["/100"], null);
});

test("a preview sends its token and layer, and nothing is stored", async () => {
  const { fetch, asked } = server({ body: { id: "1", preview: { layer: "review" } } });

  await createClient<Site>({ baseUrl, fetch, token: "secret" }).preview("draft-token", "review").posts.get("1");

  assert.equal(asked[0]!.headers["Authorization"], "Preview draft-token");
  assert.equal(asked[0]!.query["layer"], "review");
});

test("changes are followed to the present, and the cursor comes back", async () => {
  const row = (tag: string) => ({ tag, path: null, kind: "changed", at: "2026-05-03T08:00:00Z" });
  const { fetch, asked } = server(
    { body: { data: [row("post:1"), row("post:2")], next: "b" } },
    { body: { data: [row("site")], next: "c" } },
  );
  const changes = createClient<Site>({ baseUrl, fetch }).changes("a", 2);

  const tags: string[] = [];
  let step = await changes.next();
  for (; !step.done; step = await changes.next()) tags.push(step.value.tag);

  assert.deepEqual(tags, ["post:1", "post:2", "site"]);
  assert.equal(step.value, "c");
  assert.deepEqual(asked.map((one) => one.query["since"]), ["a", "b"]);
});

test("a form is sent as JSON", async () => {
  const { fetch, asked } = server({ body: { ok: true } });

  await createClient<Site>({ baseUrl, fetch }).submit("contact", { name: "Ada" });

  assert.deepEqual([asked[0]!.method, asked[0]!.path, asked[0]!.body], ["POST", "/api/forms/contact/submit", { name: "Ada" }]);
});

test("a form with files is sent as FormData, without a header that lacks the boundary", async () => {
  const sent: RequestInit[] = [];
  const values = new FormData();
  values.append("cv", new Blob(["%PDF-1.7"]), "cv.pdf");
  const fetch = async (_address: unknown, init?: RequestInit) => {
    sent.push(init!);
    return new Response("{}", { status: 201 });
  };

  await createClient<Site>({ baseUrl, fetch }).submit("contact", values);

  assert.equal(sent[0]!.body, values);
  assert.deepEqual(Object.keys(sent[0]!.headers!), ["Accept"]);
});
