import { ThroughlineError } from "@throughline/ai-core";

export interface ListingPosition {
  readonly lastActivityAt: number;
  readonly subject: string;
  readonly threadId: string;
}

/** Where a page ends. Activity only moves threads up, so what was not shown yet is never skipped below it. */
export function formatListingToken({ lastActivityAt, subject, threadId }: ListingPosition): string {
  return Buffer.from(JSON.stringify([lastActivityAt, subject, threadId])).toString("base64url");
}

export function parseListingToken(token: string): ListingPosition {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Array.isArray(parsed)) {
      const [lastActivityAt, subject, threadId]: unknown[] = parsed;
      if (
        typeof lastActivityAt === "number" &&
        Number.isSafeInteger(lastActivityAt) &&
        Math.abs(lastActivityAt) < 8.64e15 &&
        typeof subject === "string" &&
        typeof threadId === "string" &&
        !`${subject}${threadId}`.includes("\u0000")
      ) {
        return { lastActivityAt, subject, threadId };
      }
    }
  } catch {}
  throw new ThroughlineError("invalid_input", "after: is not a page we gave", {
    details: { field: "after" },
  });
}
