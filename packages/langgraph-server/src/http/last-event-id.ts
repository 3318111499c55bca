import { z } from "zod";

export const lastEventIdHeaders = z.object({
  "Last-Event-ID": z
    .string()
    .optional()
    .describe(
      "Where a returning client stands: the last id it got. What can't be served gets a gap or everything.",
    ),
});

/**
 * Where a returning client stands: the standard header, else the field CopilotKit sends. Any spelling is passed on: what is
 * no cursor of ours is answered with everything, never with a guess.
 */
export function cursorOf(headers: Headers, lastSeenEventId?: string | number | null): string | undefined {
  const cursor = headers.get("last-event-id") ?? (lastSeenEventId == null ? "" : String(lastSeenEventId));
  return cursor === "" ? undefined : cursor;
}
