import type { z } from "zod";

/** The service said no, or nothing. `message` is a sentence a person can act on. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface Asking {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Operator data. Agents themselves are spoken to through agent-client alone. */
export async function askService<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  { method = "GET", body, signal }: Asking = {},
): Promise<z.output<Schema>> {
  const answer = await fetch(`/api/throughline${path}`, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ServiceError("unreachable", "The console can't be reached. Check your connection.");
  });
  // The cookie ran out: whatever this page shows belongs to nobody who is signed in.
  if (answer.status === 401) location.assign(`/sign-in?to=${encodeURIComponent(location.pathname)}`);
  const said: unknown = answer.status === 204 ? undefined : await answer.json().catch(() => undefined);
  if (!answer.ok) throw errorOf(said, answer.status);
  return schema.parse(said);
}

function errorOf(said: unknown, status: number): ServiceError {
  const { code, message } =
    typeof said === "object" && said !== null ? ({ ...said } as Record<string, unknown>) : {};
  return typeof code === "string" && typeof message === "string"
    ? new ServiceError(code, message)
    : new ServiceError("internal", `The service answered ${status} and did not say why. Try again.`);
}

/** A segment of a path: names may hold slashes, spaces, anything. */
export function segment(name: string): string {
  return encodeURIComponent(name);
}
