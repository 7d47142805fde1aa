// A `fetch` that records what it is asked, and answers what a test says.

export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: unknown;
}
interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
}

export function server(...answers: Answer[]): { fetch: typeof fetch; asked: Asked[] } {
  const asked: Asked[] = [];
  const answering: typeof fetch = async (input, init) => {
    const address = new URL(String(input));
    asked.push({
      method: init?.method ?? "GET",
      path: address.pathname,
      query: Object.fromEntries(address.searchParams),
      headers: init?.headers as Record<string, string>,
      body: typeof init?.body === "string" ? JSON.parse(init.body) : undefined,
    });
    const answer = answers.shift();
    if (!answer) throw new Error(`No answer is left for ${address}`);
    return new Response(JSON.stringify(answer.body), {
      status: answer.status ?? 200,
      headers: { "Content-Type": "application/json", ...answer.headers },
    });
  };
  return { fetch: answering, asked };
}
