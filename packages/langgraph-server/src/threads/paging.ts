import { ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";

/** The position of a page's end, in lists that are ordered by a time and a name. */
export interface PageCursor {
  readonly at: number;
  readonly id: string;
}

export interface Page {
  readonly limit: number;
  readonly after?: PageCursor | undefined;
}

const positionSchema = z.tuple([
  z.number().int().min(0).max(8.64e15),
  z.string().max(256).refine(isStorable),
]);

/** Whether PostgreSQL can store the text; other text can't be compared with either. */
function isStorable(id: string): boolean {
  return !id.includes("\0");
}

export function encodePageCursor({ at, id }: PageCursor): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

export function decodePageCursor(token: string): PageCursor {
  try {
    const parsed = positionSchema.safeParse(JSON.parse(Buffer.from(token, "base64url").toString()));
    if (parsed.success) return { at: parsed.data[0], id: parsed.data[1] };
  } catch {}
  throw unknownPage();
}

export function unknownPage(): ThroughlineError {
  return new ThroughlineError("invalid_input", "after: is not a page we gave", {
    details: { field: "after" },
  });
}
