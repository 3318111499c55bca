import { invalidInput } from "@throughline/ai-core";
import type { z } from "zod";
import type { RouteContext, SignedIn } from "./ingress.js";

/** No body counts as an empty one. */
export async function bodyOf<S extends z.ZodType>(
  who: Pick<SignedIn, "readBody">,
  schema: S,
): Promise<z.output<S>> {
  return checked(schema, (await who.readBody()) ?? {}, "body");
}

export function queryOf<S extends z.ZodType>(c: RouteContext, schema: S): z.output<S> {
  return checked(schema, c.req.query(), "query");
}

/** `invalid_input` that says what is wrong, and in which field. */
export function checked<S extends z.ZodType>(schema: S, input: unknown, where: string): z.output<S> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw invalidInput(parsed.error, where);
  return parsed.data;
}
