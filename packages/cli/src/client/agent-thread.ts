import type { ServerClient } from "./server-client.js";

/** What a run is started with. The same `runId` again attaches to the same run (R25). */
export interface RunWish {
  readonly runId: string;
  readonly message?: { readonly id: string; readonly text: string };
  readonly answers?: readonly { readonly interruptId: string; readonly value: unknown }[];
  readonly model?: string | undefined;
}

/** One thread of an agent on a server, as its AG-UI routes show it. */
export interface AgentThread {
  run(wish: RunWish, lastEventId: string | undefined, signal: AbortSignal): Promise<Response>;
  /** How the thread stands, then what happens: to the end of the open run, or with `follow` from then on. */
  connect(follow: boolean, lastEventId: string | undefined, signal: AbortSignal): Promise<Response>;
  stop(runId?: string): Promise<unknown>;
}

/** Of `run`, `watch` and `stop`. */
export const SHARED_OPTION = {
  shared: { type: "boolean", doc: "the account's thread of that name, not your own" },
} as const;

/** What makes another command mean the same thread. */
export function sharedFlag(isShared = false): string {
  return isShared ? " --shared" : "";
}

export function agentThread(
  client: ServerClient,
  agent: string,
  threadId: string,
  isShared = false,
): AgentThread {
  const whose = isShared ? { visibility: "account" } : {};
  const path = (action: string) => `/api/copilotkit/agent/${encodeURIComponent(agent)}/${action}`;
  const spoken = { threadId, protocolVersion: "1.0.0" };
  return {
    run({ runId, message, answers, model }, lastEventId, signal) {
      const body = {
        ...spoken,
        runId,
        messages: message ? [{ id: message.id, role: "user", content: message.text }] : [],
        ...(answers && {
          resume: answers.map(({ interruptId, value }) => ({
            interruptId,
            status: "resolved",
            payload: value,
          })),
        }),
        forwardedProps: {
          throughline: { calls: true, links: true, ...whose, ...(model !== undefined && { model }) },
        },
      };
      return client.stream(path("run"), body, { lastEventId, signal });
    },
    connect(follow, lastEventId, signal) {
      const body = {
        ...spoken,
        forwardedProps: { throughline: { calls: true, links: true, follow, ...whose } },
      };
      return client.stream(path("connect"), body, { lastEventId, signal });
    },
    stop: (runId) =>
      client.request("POST", path(`stop/${encodeURIComponent(threadId)}`), {
        ...whose,
        ...(runId !== undefined && { runId }),
      }),
  };
}
