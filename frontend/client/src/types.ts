// The types of the client. `Site` is what `manage.py generate_types typescript` writes for a site.

/** The form of a site's types. */
export interface AnySite {
  locales: string;
  posts: object;
  listed: object;
  module: unknown;
  operations: object;
}

export type RichTextFormat = "json" | "html" | "markdown";
export type IncludeName = "media" | "terms" | "parent" | "children" | "translations" | "modules.posts";

type TypeName<S extends AnySite> = keyof S["posts"] & keyof S["listed"] & string;
type AnyType<S extends AnySite> = TypeName<S>;

/** A whole post, of one type or of any. */
export type PostOf<S extends AnySite, T extends AnyType<S> = AnyType<S>> = S["posts"][T];

/** The names of the fields that a post can have. */
export type PostField<P> = P extends unknown ? keyof P & string : never;

type Both<S extends AnySite, T extends AnyType<S>> = S["posts"][T] & S["listed"][T];

/** What a list answers for each post: of single posts, too, what `fields` names. */
export type Listed<
  S extends AnySite,
  T extends AnyType<S> = AnyType<S>,
  F extends string = never,
> = [F] extends [never]
  ? S["listed"][T]
  : { [K in T]: Pick<Both<S, K>, Extract<keyof Both<S, K>, F>> }[T];

/** What one post answers. */
export type One<S extends AnySite, F extends string = never> = [F] extends [never]
  ? PostOf<S>
  : { [K in AnyType<S>]: Pick<S["posts"][K], Extract<keyof S["posts"][K], F>> }[AnyType<S>];

interface MediaFile {
  url: string;
  mime: string;
  alt: string;
  width: number | null;
  height: number | null;
}
interface Term {
  id: string;
  slug: string;
  name: string;
  url: string | null;
}

/** What `include` adds, each thing once, by its id. */
export type Included<S extends AnySite, I extends IncludeName> = {
  [K in I as K extends "media" ? "media" : K extends "terms" ? "terms" : "posts"]: K extends "media"
    ? Record<string, MediaFile>
    : K extends "terms"
      ? Record<string, Term>
      : Record<string, S["listed"][AnyType<S>]>;
};

/** `included` is answered only where something is included. */
export type WithIncluded<S extends AnySite, I extends IncludeName> = [I] extends [never]
  ? unknown
  : { included: Included<S, I> };

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
  T extends AnyType<S>,
  F extends string,
  I extends IncludeName,
> {
  type?: T;
  locale?: S["locales"];
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
  richtext?: RichTextFormat;
  /** Posts of an answer, at most 100. */
  perPage?: number;
}

export interface PostQuery<F extends string, I extends IncludeName> {
  fields?: readonly F[];
  include?: readonly I[];
  richtext?: RichTextFormat;
  variation?: string;
  fallback?: string;
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
  facets?: Record<string, unknown[]>;
}

export interface Redirect {
  toPath: string;
  status: number;
}

/** What a path leads to. */
export type Resolved<S extends AnySite, F extends string = never> =
  | { type: "post"; post: One<S, F> }
  | { type: "redirect"; redirect: Redirect }
  | { type: "list"; postType: string; term?: unknown; page?: number };

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
