export { createClient } from "./client.js";
export type { Client, ClientOptions, Preview } from "./client.js";
export { ProofroomError } from "./errors.js";
export type {
  AnySite,
  Changes,
  Change,
  Included,
  IncludeName,
  ListQuery,
  Listed,
  Page,
  PostField,
  PostQuery,
  PostOf,
  Resolved,
  RichTextFormat,
} from "./types.js";
