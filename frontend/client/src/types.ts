// The types of the client. `Site` is what `manage.py generate_types typescript` writes for a site.

/** The form of a site's types. */
export interface AnySite {
  locales: string;
  posts: object;
  listed: object;
  included: { media: unknown; terms: unknown; posts: unknown };
  redirect: object;
  list: object;
  module: unknown;
  operations: object;
}

export type RichTextFormat = "json" | "html" | "markdown";
export type IncludeName = "media" | "terms" | "parent" | "children" | "translations" | "modules.posts";
/** What is included: a name, or a path such as `children.media`. */
export type Include = IncludeName | `${IncludeName}.${string}`;

export type TypeName<S extends AnySite> = keyof S["posts"] & keyof S["listed"] & string;

/** A whole post, of one type or of any. */
export type PostOf<S extends AnySite, T extends TypeName<S> = TypeName<S>> = S["posts"][T];

/** The names of the fields that a post can have. */
export type PostField<P> = P extends unknown ? Exclude<keyof P & string, Answered> : never;

/** The names of the fields that `fields` of a list can name. */
export type ListField<S extends AnySite, T extends TypeName<S>> = PostField<S["posts"][T] | S["listed"][T]>;

/** Members of a post that follow from other parameters than `fields`. */
type Answered = "included" | "isFallback" | "children";

/** A member that `include` adds to each post, whatever `fields` names. */
type Related<I extends string> =
  | (Has<I, "terms"> extends true ? "taxonomyTermIds" : never)
  | (Has<I, "translations"> extends true ? "translations" : never)
  | (Has<I, "children"> extends true ? "children" : never);
type Has<I extends string, Name extends string> = [Extract<I, Name | `${Name}.${string}`>] extends [never] ? false : true;

/** The fields of a post with these names. */
type Chosen<P, F extends string> = P extends unknown ? Pick<P, Extract<keyof P, F>> : never;

type Both<S extends AnySite, T extends TypeName<S>> = S["posts"][T] & S["listed"][T];

/** What a list answers for each post: of single posts, too, what `fields` names. */
export type Listed<
  S extends AnySite,
  T extends TypeName<S> = TypeName<S>,
  F extends string = never,
  I extends Include = never,
  R extends RichTextFormat = "json",
> = Texts<
  [F] extends [never]
    ? { [K in T]: S["listed"][K] & Required<Chosen<Both<S, K>, Related<I>>> }[T]
    : { [K in T]: Chosen<Both<S, K>, F> & Required<Chosen<Both<S, K>, Related<I>>> }[T],
  R
>;

/** What one post answers. */
export type One<
  S extends AnySite,
  F extends string = never,
  I extends Include = never,
  R extends RichTextFormat = "json",
> = Texts<
  [F] extends [never]
    ? { [K in TypeName<S>]: Omit<S["posts"][K], "included"> & Required<Chosen<S["posts"][K], Related<I>>> }[TypeName<S>]
    : { [K in TypeName<S>]: Chosen<S["posts"][K], F> & Required<Chosen<S["posts"][K], Related<I>>> }[TypeName<S>],
  R
>;

/** The answer with rich text in a format: documents become strings unless it is `json`. */
export type Texts<P, R extends RichTextFormat> = R extends "json" ? P : AsText<P>;
type AsText<P> = P extends { type: "doc" }
  ? string
  : P extends readonly (infer E)[]
    ? AsText<E>[]
    : P extends object
      ? { [K in keyof P]: AsText<P[K]> }
      : P;

/** What `include` adds, each thing once, by its id. */
export type Included<S extends AnySite, I extends Include, R extends RichTextFormat = "json"> = Texts<
  Pick<S["included"], Kind<I>>,
  R
>;

/** Files are included with `modules.posts`, too: cards show the images of their posts. */
type Kind<I extends string> =
  | (I extends "media" | `${string}.media` | `modules.posts${string}` ? "media" : never)
  | (I extends "terms" | `${string}.terms` ? "terms" : never)
  | (I extends "media" | "terms" ? never : "posts");

/** `included` is answered only where something is included. */
export type WithIncluded<S extends AnySite, I extends Include, R extends RichTextFormat = "json"> = [I] extends [never]
  ? unknown
  : { included: Included<S, I, R> };

export type FilterOperator =
  | "eq"
  | "ne"
  | "in"
  | "lt"
  | "lte"
  | "gt"
  | "gte"
  | "exists"
  | "contains"
  | "any"
  | "all";
type Value = string | number | boolean;

/** Conditions by field: a value, or values by operator. A list of values is sent with commas. */
export type Filters = Record<
  string,
  Value | { readonly [O in FilterOperator]?: Value | readonly Value[] }
>;

export interface ListQuery<
  S extends AnySite,
  T extends TypeName<S>,
  F extends string,
  I extends Include,
  R extends RichTextFormat,
> {
  type?: T;
  locale?: S["locales"];
  /** The language of posts that are not published in `locale`. */
  fallback?: S["locales"];
  allLocales?: boolean;
  slug?: string;
  taxonomy?: string;
  search?: string;
  ids?: readonly string[];
  filter?: Filters;
  ordering?: string | readonly string[];
  facets?: readonly ("terms" | "type")[];
  fields?: readonly F[];
  include?: readonly I[];
  richtext?: R;
  page?: number;
  /** `meta.next` of the last answer, in the place of `page`. */
  after?: string;
  /** Posts of an answer, at most 100. */
  perPage?: number;
}

interface AnyQuery<S extends AnySite, F extends string, I extends Include, R extends RichTextFormat> {
  fields?: readonly F[];
  include?: readonly I[];
  richtext?: R;
  variation?: string;
  /** The language of a post that is not published in the requested one. */
  fallback?: S["locales"];
}

export interface PostQuery<S extends AnySite, F extends string, I extends Include, R extends RichTextFormat>
  extends AnyQuery<S, F, I, R> {
  /** With `fallback`: the language to answer. */
  locale?: S["locales"];
}

export interface PathQuery<S extends AnySite, F extends string, I extends Include, R extends RichTextFormat>
  extends AnyQuery<S, F, I, R> {
  /** The page of a list. */
  page?: number;
}

export interface Meta {
  total: number;
  per_page: number;
  current_page?: number;
  last_page?: number;
  total_is_estimate?: boolean;
  /** The cursor of the following posts; null at the end. */
  next?: string | null;
}

export interface Page<P> {
  data: P[];
  meta: Meta;
  facets?: {
    terms?: { id: string; slug: string; name: string; count: number }[];
    type?: { value: string; count: number }[];
  };
}

/** What a path leads to. */
export type Resolved<
  S extends AnySite,
  F extends string = never,
  I extends Include = never,
  R extends RichTextFormat = "json",
> =
  | ({ type: "post"; post: One<S, F, I, R> } & WithIncluded<S, I, R>)
  | S["redirect"]
  | S["list"];

/** A row of the changes: something that a visitor gets has changed or is gone. */
export interface Change {
  tag: string;
  path: string | null;
  kind: "changed" | "gone";
  at: string;
}
export interface Changes {
  data: Change[];
  next: string;
}
