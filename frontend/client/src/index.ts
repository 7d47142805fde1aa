export { createClient } from "./client.js";
export type { Client, ClientOptions, Preview } from "./client.js";
export { createApi } from "./api.js";
export type { Api, ApiOptions, AnyOperations } from "./api.js";
export { ProofroomError } from "./errors.js";
export type {
  AnySite,
  Changes,
  Change,
  Included,
  Include,
  ListQuery,
  Listed,
  Page,
  PathQuery,
  PostField,
  PostQuery,
  PostOf,
  Resolved,
  RichTextFormat,
} from "./types.js";
