import assert from "node:assert/strict";
import { test } from "node:test";
import { createApi, ProofroomError } from "../src/index.js";
import { server } from "./server.js";

interface Operations {
  posts_list: {
    method: "GET";
    path: "/api/posts";
    parameters: Record<string, never>;
    query: { type?: string; per_page?: number };
    body: undefined;
    answer: { data: { id: string }[] };
  };
  posts_update: {
    method: "PUT";
    path: "/api/posts/{post_id}";
    parameters: { post_id: string };
    query: Record<string, never>;
    body: { title?: string };
    answer: { id: string; title: string };
  };
}
const operations = {
  posts_list: { method: "GET", path: "/api/posts" },
  posts_update: { method: "PUT", path: "/api/posts/{post_id}" },
} as const;
const options = { baseUrl: "https://cms.example", token: "secret" };

test("an operation is called by its id, with its path, query and body", async () => {
  const { fetch, asked } = server({ body: { data: [{ id: "1" }] } }, { body: { id: "a/b", title: "New" } });
  const api = createApi<Operations>(operations, { ...options, fetch });

  const listed = await api("posts_list", { query: { type: "blog" } });
  const changed = await api("posts_update", { parameters: { post_id: "a/b" }, body: { title: "New" } });

  assert.deepEqual([listed.data[0]!.id, changed.title], ["1", "New"]);
  assert.deepEqual(asked[0]!.query, { type: "blog" });
  assert.deepEqual([asked[1]!.method, asked[1]!.path, asked[1]!.body], ["PUT", "/api/posts/a%2Fb", { title: "New" }]);
  assert.equal(asked[1]!.headers["Authorization"], "Bearer secret");
});

test("files come as they are, and texts as texts", async () => {
  const types = ["text/csv", "application/jsonl", "application/xliff+xml", "application/zip"];
  const answers = types.map((type) => ({ headers: { "Content-Type": type }, body: 1 }));
  const { fetch } = server(...answers);
  const api = createApi<Operations>(operations, { ...options, fetch });

  const found: unknown[] = [];
  for (const _ of types) found.push(await api("posts_list"));

  assert.deepEqual(found.slice(0, 3), ["1", "1", "1"]);
  assert.ok(found[3] instanceof Blob);
});

test("errors are those of the CMS", async () => {
  const { fetch } = server({ status: 403, body: { error: "No.", code: "forbidden", details: {} } });

  await assert.rejects(createApi<Operations>(operations, { ...options, fetch })("posts_list"), ProofroomError);
});

test("types refuse what an operation does not take", async () => {
  const { fetch } = server({ body: {} }, { body: {} });
  const api = createApi<Operations>(operations, { ...options, fetch });

  // @ts-expect-error no such operation
  await assert.rejects(async () => api("posts_lst"));
  // @ts-expect-error the path needs its id
  await api("posts_update", { body: { title: "New" } });
  // @ts-expect-error a title is a text
  await api("posts_update", { parameters: { post_id: "1" }, body: { title: 1 } });
});
