// The client of the delivery API. It needs `fetch` and nothing else.

import { errorOf } from "./errors.js";
import type {
  AnySite,
  Change,
  Changes,
  Filters,
  Include,
  Listed,
  ListField,
  ListQuery,
  One,
  Page,
  PathQuery,
  PostField,
  PostOf,
  PostQuery,
  Resolved,
  RichTextFormat,
  TypeName,
  WithIncluded,
} from "./types.js";

/** Reads drafts. No version of Proofroom issues these tokens yet: it refuses each with 401 `invalid_token`. */
export interface Preview {
  token: string;
  layer?: "live" | "review" | "ai-review";
}

export interface ClientOptions {
  /** The address of the CMS, like `https://cms.example`. */
  baseUrl: string;
  /** A token of kind `delivery`, for its own rate. */
  token?: string;
  /** Answers drafts instead of live content. */
  preview?: Preview;
  /** Another `fetch`, for example with a cache. */
  fetch?: typeof fetch;
  /** Attempts after 429 and 503, each after the time that the answer names. */
  retries?: number;
}

type Query = Record<string, unknown>;
const PER_PAGE = 100;
const MOST_PATHS = 100;
const LONGEST_WAIT = 60;

/** Returns the client of a site. `Site` comes from `manage.py generate_types typescript`. */
export function createClient<S extends AnySite>(options: ClientOptions): Client<S> {
  return new Client<S>(options);
}

export class Client<S extends AnySite> {
  readonly posts: Posts<S>;

  constructor(private readonly options: ClientOptions) {
    this.posts = new Posts<S>(this);
  }

  /** Returns a client that reads drafts, with a token of `Preview`. */
  preview(token: string, layer?: Preview["layer"]): Client<S> {
    return new Client<S>({ ...this.options, preview: { token, ...(layer ? { layer } : {}) } });
  }

  /** Returns what a path leads to, or null where nothing is published. */
  async resolve<
    const F extends PostField<PostOf<S>> = never,
    const I extends Include = never,
    const R extends RichTextFormat = "json",
  >(path: string, query: PathQuery<S, F, I, R> = {}): Promise<Resolved<S, F, I, R> | null> {
    return orNull(this.get<Resolved<S, F, I, R>>("/api/public/resolve", { path, ...query }));
  }

  /** Returns what each path leads to; null where nothing is published. Asks once for 100 paths. */
  async resolveAll<const F extends PostField<PostOf<S>> = never>(
    paths: readonly string[],
    query: { fields?: readonly F[] } = {},
  ): Promise<Record<string, Resolved<S, F> | null>> {
    const found: Record<string, Resolved<S, F> | null> = {};
    for (let begin = 0; begin < paths.length; begin += MOST_PATHS) {
      const part = paths.slice(begin, begin + MOST_PATHS);
      const { data } = await this.send<{ data: Record<string, Resolved<S, F> | { type: "not_found" }> }>(
        "POST",
        "/api/public/resolve",
        {},
        { paths: part, ...query },
      );
      for (const [path, one] of Object.entries(data)) {
        found[path] = "type" in one && one.type === "not_found" ? null : (one as Resolved<S, F>);
      }
    }
    return found;
  }

  /** Yields what changed since a cursor or a moment. Returns the cursor for the next time. */
  async *changes(since: string, limit = PER_PAGE): AsyncGenerator<Change, string, undefined> {
    let cursor = since;
    for (;;) {
      const { data, next } = await this.get<Changes>("/api/public/changes", { since: cursor, limit });
      yield* data;
      if (data.length < limit || next === cursor) return next;
      cursor = next;
    }
  }

  /** Returns the present cursor of the changes. */
  async changesCursor(): Promise<string> {
    return (await this.get<Changes>("/api/public/changes", {})).next;
  }

  /** Returns a menu, or null where there is none. */
  menu(slug: string, query: { locale?: S["locales"] } = {}): Promise<AnswerOf<S, "menus_by_slug_retrieve"> | null> {
    const path = `/api/menus/by-slug/${encodeURIComponent(slug)}`;
    return orNull(this.get<AnswerOf<S, "menus_by_slug_retrieve">>(path, query));
  }

  /** Returns the answer of any read, by its path and query: `client.get("/api/public/site", {locale: "en"})`. */
  get<A>(path: string, query: object = {}): Promise<A> {
    return this.send<A>("GET", path, query);
  }

  /**
   * Sends a form, with files as `FormData`: `cms.submit("contact", new FormData(form))`. Throws a
   * `ProofroomError` with sentences by field where it is refused.
   */
  submit(slug: string, values: Record<string, unknown> | FormData): Promise<unknown> {
    return this.send("POST", `/api/forms/${encodeURIComponent(slug)}/submit`, {}, values);
  }

  private async send<A>(method: string, path: string, query: object, body?: unknown): Promise<A> {
    const { preview, token, retries = 2 } = this.options;
    const address = new URL(path, this.options.baseUrl);
    // Always in the same order, so that equal questions have equal addresses and caches find their answers.
    const layer = preview?.layer && path.startsWith("/api/public/") ? { layer: preview.layer } : {};
    const pairs = pairsOf({ ...query, ...layer }).sort(([left], [right]) => (left < right ? -1 : 1));
    address.search = new URLSearchParams(pairs).toString();
    const headers: Record<string, string> = { Accept: "application/json" };
    if (preview) headers["Authorization"] = `Preview ${preview.token}`;
    else if (token) headers["Authorization"] = `Bearer ${token}`;
    // For FormData, fetch writes the header itself, with the boundary.
    const isForm = body instanceof FormData;
    if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
    const ask = this.options.fetch ?? fetch;
    for (let attempt = 0; ; attempt++) {
      const answer = await ask(address, {
        method,
        headers,
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
        ...(preview ? { cache: "no-store" as const } : {}),
      });
      if (answer.ok) return (await answer.json()) as A;
      const mayRetry = answer.status === 429 || answer.status === 503;
      if (!mayRetry || attempt >= retries) throw await errorOf(answer);
      const seconds = Number(answer.headers.get("Retry-After")) || 1;
      await answer.body?.cancel();
      await new Promise((done) => setTimeout(done, Math.min(seconds, LONGEST_WAIT) * 1000));
    }
  }
}

/** The answer of an operation of the site's own types. */
export type AnswerOf<S extends AnySite, Name extends string> = Name extends keyof S["operations"]
  ? S["operations"][Name] extends { answer: infer A }
    ? A
    : unknown
  : unknown;

type PageOf<
  S extends AnySite,
  T extends TypeName<S>,
  F extends string,
  I extends Include,
  R extends RichTextFormat,
> = Page<Listed<S, T, F, I, R>> & WithIncluded<S, I, R>;

class Posts<S extends AnySite> {
  constructor(private readonly client: Client<S>) {}

  /** Returns the first posts that match. `fields` and `include` decide on the type of the answer. */
  list<
    const T extends TypeName<S> = TypeName<S>,
    const F extends ListField<S, T> = never,
    const I extends Include = never,
    const R extends RichTextFormat = "json",
  >(query: ListQuery<S, T, F, I, R> = {}): Promise<PageOf<S, T, F, I, R>> {
    return this.client.get<PageOf<S, T, F, I, R>>("/api/public/posts", listQuery(query));
  }

  /** Yields the pages of a list until its end, each with what it includes. */
  async *pages<
    const T extends TypeName<S> = TypeName<S>,
    const F extends ListField<S, T> = never,
    const I extends Include = never,
    const R extends RichTextFormat = "json",
  >(
    query: ListQuery<S, T, F, I, R> = {},
  ): AsyncGenerator<PageOf<S, T, F, I, R>, void, undefined> {
    const asked: Query = { per_page: PER_PAGE, ...listQuery(query) };
    // A cursor skips and repeats no post if others change meanwhile. A search by relevance has only pages.
    const hasPages = asked["page"] !== undefined || (Boolean(asked["search"]) && asked["ordering"] === undefined);
    let place: Query = hasPages || asked["after"] !== undefined ? {} : { after: "" };
    for (let number = Number(asked["page"] ?? 1); ; number++) {
      const page = await this.client.get<PageOf<S, T, F, I, R>>("/api/public/posts", { ...asked, ...place });
      yield page;
      const { next, last_page: last = 0 } = page.meta;
      if (typeof next === "string") place = { after: next };
      else if (next === undefined && number < last) place = { page: number + 1 };
      else return;
    }
  }

  /** Yields all posts that match, one after the other, with a request for each 100. */
  async *all<
    const T extends TypeName<S> = TypeName<S>,
    const F extends ListField<S, T> = never,
    const R extends RichTextFormat = "json",
  >(query: ListQuery<S, T, F, never, R> = {}): AsyncGenerator<Listed<S, T, F, never, R>, void, undefined> {
    for await (const page of this.pages<T, F, never, R>(query)) yield* page.data;
  }

  /** Returns one post, or null where none with this id is published. */
  get<
    const F extends PostField<PostOf<S>> = never,
    const I extends Include = never,
    const R extends RichTextFormat = "json",
  >(id: string, query: PostQuery<S, F, I, R> = {}): Promise<(One<S, F, I, R> & WithIncluded<S, I, R>) | null> {
    const path = `/api/public/posts/${encodeURIComponent(id)}`;
    return orNull(this.client.get<One<S, F, I, R> & WithIncluded<S, I, R>>(path, query));
  }
}

function listQuery(query: object): Query {
  const { perPage, filter, ...others } = query as Query & { perPage?: number; filter?: Filters };
  const filters: Query = {};
  for (const [field, condition] of Object.entries(filter ?? {})) {
    if (typeof condition !== "object") filters[`filter[${field}]`] = condition;
    else {
      for (const [operator, value] of Object.entries(condition)) {
        // A comma inside one value is no separator.
        const values = (Array.isArray(value) ? value : [value]).map((one) => String(one).replace(/,/g, "\\,"));
        filters[`filter[${field}][${operator}]`] = values.join(",");
      }
    }
  }
  return { ...others, ...filters, ...(perPage === undefined ? {} : { per_page: perPage }) };
}

function pairsOf(query: object): [string, string][] {
  return Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, Array.isArray(value) ? value.join(",") : String(value)]);
}

async function orNull<A>(answer: Promise<A>): Promise<A | null> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { status?: number }).status === 404) return null;
    throw error;
  }
}
