import { readSse } from "../server/sse-reader.mjs";

const TOKEN = / (\d{1,6}):(\d{13})(?!\d)/g;

/**
 * @typedef {{ kind: "text" | "whole" | "end" | "error" | "other", text: string, cursor: string | undefined }} Reading what a frame says: more
 * text, all of the text so far, the run's end
 */

/**
 * Someone who reads a run and notes which tokens it saw, how often, and how late. Where `comesBackEveryMs` is set it drops its
 * connection that often and comes back as the subject's own protocol says.
 *
 * @param {import("./subject.mjs").Subject} subject
 * @param {{ first: object, again: (cursor: string | undefined) => object, tokens: number, comesBackEveryMs?: number,
 *   onToken: (lagMs: number, now: number) => void, onFrame: (cursor: string | undefined, now: number) => void }} options
 */
export function startViewer(subject, { first, again, tokens, comesBackEveryMs, onToken, onFrame }) {
  const seen = new Uint8Array(tokens);
  const viewer = { connections: 0, longestPauseMs: 0, pausedAt: 0, hasEnded: false, failure: undefined };
  let cursor;
  let newest = -1;
  let lastAt;
  let reading;
  let back;

  function take(frame) {
    const now = Date.now();
    const read = subject.read(frame);
    if (read?.cursor !== undefined) cursor = read.cursor;
    onFrame(cursor, now);
    if (lastAt !== undefined && now - lastAt > viewer.longestPauseMs) {
      viewer.longestPauseMs = now - lastAt;
      viewer.pausedAt = lastAt;
    }
    lastAt = now;
    if (read === undefined) return;
    if (read.kind === "whole") seen.fill(0);
    if (read.kind === "end") viewer.hasEnded = true;
    if (read.kind === "error") viewer.failure = frame.slice(0, 300);
    for (const [, token, due] of read.text.matchAll(TOKEN)) {
      seen[Number(token)]++;
      if (Number(token) <= newest) continue;
      newest = Number(token);
      // What a view begins with was said before it was there.
      if (read.kind === "text") onToken(now - Number(due), now);
    }
  }

  async function readOn(what) {
    for (let next = what; ; next = again(cursor)) {
      viewer.connections++;
      if (viewer.connections > 1 && subject.startsAnew) seen.fill(0);
      reading = readSse(next, take);
      const left = new Promise((resolve) => {
        if (comesBackEveryMs !== undefined) back = setTimeout(() => resolve("left"), comesBackEveryMs);
      });
      const how = await Promise.race([reading.ended.then(() => "ended"), left]).finally(() =>
        clearTimeout(back),
      );
      if (how === "ended") return;
      reading.leave();
    }
  }

  const over = readOn(first).then(() => ({
    ...viewer,
    missing: seen.reduce((sum, count) => sum + (count === 0 ? 1 : 0), 0),
    doubled: seen.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
  }));
  // A run that is refused is told by `opened`.
  over.catch(() => {});
  /** `over` resolves with what was seen when the stream has ended by itself. */
  return { opened: reading.opened, over };
}
