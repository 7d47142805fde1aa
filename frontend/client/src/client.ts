// The client of the delivery API. It needs `fetch` and nothing else.

import { errorOf } from "./errors.js";
import type {
  AnySite,
  Change,
  Changes,
  Filters,
  IncludeName,
  Listed,
  ListQuery,
  One,
  Page,
  PostField,
  PostOf,
  PostQuery,
  Resolved,
  WithIncluded,
} from "./types.js";

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

type Types<S extends AnySite> = keyof S["posts"] & keyof S["listed"] & string;
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

  /** Returns a client that reads drafts. */
  preview(token: string, layer?: Preview["layer"]): Client<S> {
    return new Client<S>({ ...this.options, preview: { token, ...(layer ? { layer } : {}) } });
  }

  /** Returns what a path leads to, or null where nothing is published. */
  async resolve<const F extends PostField<PostOf<S>> = never, const I extends IncludeName = never>(
    path: string,
    query: PostQuery<F, I> = {},
  ): Promise<(Resolved<S, F> & WithIncluded<S, I>) | null> {
    return orNull(
      this.get<Resolved<S, F> & WithIncluded<S, I>>("/api/public/resolve", { path, ...query }),
    );
  }

  /** Returns what each path leads to; null where nothing is published. Asks once for 100 paths. */
  async resolveAll<const F extends PostField<PostOf<S>> = never>(
    paths: readonly string[],
    query: { fields?: readonly F[]; include?: readonly IncludeName[] } = {},
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
        found[path] = one.type === "not_found" ? null : one;
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
    return orNull(this.get<AnswerOf<S, "menus_by_slug_retrieve">>(`/api/menus/by-slug/${encodeURIComponent(slug)}`, query));
  }

  /** Returns the answer of any read, by its path and query: `client.get("/api/public/site", {locale: "en"})`. */
  get<A>(path: string, query: object = {}): Promise<A> {
    return this.send<A>("GET", path, query);
  }

  /** Sends a form. Throws a `ProofroomError` with sentences by field where it is refused. */
  submit(slug: string, values: Record<string, unknown>): Promise<unknown> {
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
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const ask = this.options.fetch ?? fetch;
    for (let attempt = 0; ; attempt++) {
      const answer = await ask(address, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
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

class Posts<S extends AnySite> {
  constructor(private readonly client: Client<S>) {}

  /** Returns the first posts that match. `fields` and `include` decide on the type of the answer. */
  list<
    const T extends Types<S> = Types<S>,
    const F extends PostField<S["posts"][T] | S["listed"][T]> = never,
    const I extends IncludeName = never,
  >(query: ListQuery<S, T, F, I> = {}): Promise<Page<Listed<S, T, F>> & WithIncluded<S, I>> {
    return this.client.get<Page<Listed<S, T, F>> & WithIncluded<S, I>>("/api/public/posts", listQuery(query));
  }

  /** Yields the pages of a list until its end, each with what it includes. */
  async *pages<
    const T extends Types<S> = Types<S>,
    const F extends PostField<S["posts"][T] | S["listed"][T]> = never,
    const I extends IncludeName = never,
  >(
    query: ListQuery<S, T, F, I> = {},
  ): AsyncGenerator<Page<Listed<S, T, F>> & WithIncluded<S, I>, void, undefined> {
    const asked = { per_page: PER_PAGE, ...listQuery(query) };
    let place: Query = {};
    for (let number = 1; ; number++) {
      const page = await this.client.get<Page<Listed<S, T, F>> & WithIncluded<S, I>>(
        "/api/public/posts",
        { ...asked, ...place },
      );
      yield page;
      const { next, last_page: last = 0 } = page.meta;
      // A cursor misses no post and repeats none where posts appear meanwhile.
      if (typeof next === "string") place = { after: next };
      else if (next === undefined && number < last) place = { page: number + 1 };
      else return;
    }
  }

  /** Yields all posts that match, one after the other, with a request for each 100. */
  async *all<
    const T extends Types<S> = Types<S>,
    const F extends PostField<S["posts"][T] | S["listed"][T]> = never,
  >(query: ListQuery<S, T, F, never> = {}): AsyncGenerator<Listed<S, T, F>, void, undefined> {
    for await (const page of this.pages<T, F, never>(query)) yield* page.data;
  }

  /** Returns one post, or null where none with this id is published. */
  get<const F extends PostField<PostOf<S>> = never, const I extends IncludeName = never>(
    id: string,
    query: PostQuery<F, I> = {},
  ): Promise<(One<S, F> & WithIncluded<S, I>) | null> {
    return orNull(
      this.client.get<One<S, F> & WithIncluded<S, I>>(`/api/public/posts/${encodeURIComponent(id)}`, query),
    );
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
