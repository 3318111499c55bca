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

export function agentThread(client: ServerClient, agent: string, threadId: string): AgentThread {
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
        forwardedProps: { throughline: { calls: true, links: true, ...(model !== undefined && { model }) } },
      };
      return client.stream(path("run"), body, { lastEventId, signal });
    },
    connect(follow, lastEventId, signal) {
      const body = { ...spoken, forwardedProps: { throughline: { calls: true, links: true, follow } } };
      return client.stream(path("connect"), body, { lastEventId, signal });
    },
    stop: (runId) =>
      client.request(
        "POST",
        path(`stop/${encodeURIComponent(threadId)}`),
        runId === undefined ? {} : { runId },
      ),
  };
}
