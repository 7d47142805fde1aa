/** An error answer of the CMS: its sentence, its code, and sentences by the path of the field. */
export class ProofroomError extends Error {
  override readonly name = "ProofroomError";

  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly details: Readonly<Record<string, readonly string[]>>,
  ) {
    super(message);
  }
}

/** Makes the error of an answer, also where something before the CMS answered, such as a proxy. */
export async function errorOf(answer: Response): Promise<ProofroomError> {
  const body: unknown = await answer.json().catch(() => null);
  const { error, code, details } = (body ?? {}) as {
    error?: string;
    code?: string;
    details?: Record<string, string[]>;
  };
  return new ProofroomError(
    error ?? `The CMS answered ${answer.status}.`,
    answer.status,
    code ?? "unknown",
    details ?? {},
  );
}
