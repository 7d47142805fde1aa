// A client of any operation of the API, by its id: for the management API, with an API token.

import { errorOf } from "./errors.js";

/** The form of the generated `Operations`. */
export type AnyOperations = Record<
  string,
  { method: string; path: string; parameters: object; query: object; body: unknown; answer: unknown }
>;

export interface ApiOptions {
  /** The address of the CMS, like `https://cms.example`. */
  baseUrl: string;
  /** An API token. */
  token: string;
  fetch?: typeof fetch;
}

/** What is no text, such as an archive. */
const FILE = /^(?!text\/)(?!.*\b(xml|jsonl)\b)/;

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : Value extends Record<string, never>
    ? unknown
    : Partial<Value> extends Value
      ? { [K in Name]?: Value }
      : { [K in Name]: Value };

/** What an operation needs: `parameters` of its path, `query`, `body`. */
type Input<O extends { parameters: object; query: object; body: unknown }> = Part<"parameters", O["parameters"]> &
  Part<"query", O["query"]> &
  Part<"body", O["body"]>;

export type Api<Operations> = <Name extends keyof Operations & string>(
  name: Name,
  ...input: Operations[Name] extends infer O extends AnyOperations[string]
    ? {} extends Input<O>
      ? [input?: Input<O>]
      : [input: Input<O>]
    : never
) => Promise<Operations[Name] extends { answer: infer A } ? A : never>;

/**
 * Returns a function that calls operations by their ids. `Operations` and `operations` come from
 * `manage.py generate_types typescript --api management`.
 */
export function createApi<Operations>(
  operations: { readonly [Name in keyof Operations]: { readonly method: string; readonly path: string } },
  options: ApiOptions,
): Api<Operations> {
  const call = async (name: keyof Operations, input: Request = {}): Promise<unknown> => {
    const { method, path } = operations[name];
    const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(input.parameters?.[key])));
    const address = new URL(filled, options.baseUrl);
    for (const [key, value] of Object.entries(input.query ?? {})) {
      if (value !== undefined && value !== null) address.searchParams.set(key, String(value));
    }
    const hasBody = input.body !== undefined;
    const answer = await (options.fetch ?? fetch)(address, {
      method,
      headers: {
        Accept: "application/json",
        Authorization: `Bearer ${options.token}`,
        ...(hasBody ? { "Content-Type": "application/json" } : {}),
      },
      ...(hasBody ? { body: JSON.stringify(input.body) } : {}),
    });
    if (!answer.ok) throw await errorOf(answer);
    const type = answer.headers.get("Content-Type") ?? "";
    if (/[/+]json\b/.test(type)) return answer.json();
    return FILE.test(type) ? answer.blob() : answer.text();
  };
  return call as Api<Operations>;
}

interface Request {
  parameters?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}
