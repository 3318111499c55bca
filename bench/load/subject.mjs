import { randomUUID } from "node:crypto";
import { connectionOf, runOf } from "../server/our-routes.mjs";

/**
 * What is put under load. `createRun` gives a run that is not started yet: `start` is the request that starts and reads it,
 * `view` one that reads it from elsewhere, from a cursor on where there is one.
 *
 * @typedef {{ id: string, start: object, view: (cursor?: string) => object }} SubjectRun
 * @typedef {{
 *   name: string,
 *   startsAnew: boolean,
 *   createRun: (typing: object) => Promise<SubjectRun>,
 *   read: (frame: string) => import("./viewer.mjs").Reading | undefined,
 *   pids: { service: readonly number[], postgres: readonly number[] },
 *   databaseUrl?: string,
 *   passTurn?: () => Promise<void>,
 *   eventLoopLagMs: () => Promise<number | undefined>,
 *   stop: () => Promise<void>,
 * }} Subject `startsAnew`: who comes back is shown everything again, and forgets what it held;
 * `passTurn`: the next connection goes to another process than it would have, where connections are dealt in turn
 */

/** Runs over the AG-UI routes, which our service and CopilotKit's runtime share. */
export function agUiRun(urls, agent, typing) {
  const threadId = randomUUID();
  const start = runOf(urls.start, agent, threadId, typing);
  return {
    id: start.body.runId,
    start,
    view: (cursor) => connectionOf(urls.view, agent, threadId, { cursor }),
  };
}

/** Frames are read by what they begin with: to parse each would cost the reader more than what it measures. */
export function readAgUi(frame) {
  const cursor = /^id: ?(.*)$/m.exec(frame)?.[1];
  const type = /"type":"([A-Z_]+)"/.exec(frame)?.[1];
  switch (type) {
    case "TEXT_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_CHUNK":
      return { kind: "text", text: frame, cursor };
    case "MESSAGES_SNAPSHOT":
      return { kind: "whole", text: frame, cursor };
    case "RUN_FINISHED":
      return { kind: "end", text: "", cursor };
    case "RUN_ERROR":
      return { kind: "error", text: "", cursor };
    default:
      return { kind: "other", text: "", cursor };
  }
}
