/**
 * Where a returning client stands: the standard header, else the field CopilotKit sends. Any spelling is passed on: what is
 * no cursor of ours is answered with everything, never with a guess.
 */
export function cursorOf(headers: Headers, lastSeenEventId?: string | number | null): string | undefined {
  const cursor = headers.get("last-event-id") ?? (lastSeenEventId == null ? "" : String(lastSeenEventId));
  return cursor === "" ? undefined : cursor;
}
