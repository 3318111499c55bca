import { ThroughlineError } from "@throughline/ai-core";
import { subjectKey, type ThreadRef } from "./thread-ref.js";

export interface PagePlace {
  readonly subject: string;
  readonly threadId: string;
}

/** Where a page of threads ends; they are listed in order of subject and id. */
export function formatPageToken(thread: ThreadRef): string {
  return Buffer.from(JSON.stringify([subjectKey(thread), thread.threadId])).toString("base64url");
}

export function parsePageToken(token: string): PagePlace {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Array.isArray(parsed)) {
      const [subject, threadId]: unknown[] = parsed;
      if (typeof subject === "string" && typeof threadId === "string") return { subject, threadId };
    }
  } catch {}
  throw new ThroughlineError("invalid_input", "after: is not a page we gave", {
    details: { field: "after" },
  });
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

export function pageLimit(limit: number | undefined): number {
  return Math.min(Math.max(1, Math.trunc(limit ?? DEFAULT_LIMIT)), MAX_LIMIT);
}
