import { randomUUID } from "node:crypto";

const AGENT = "/api/copilotkit/agent/langgraph";

/** What a stock client posts to run an agent. */
export function runOf(url, agent, threadId, state) {
  return {
    url: `${url}${AGENT}:${agent}/run`,
    body: {
      threadId,
      runId: randomUUID(),
      messages: [{ id: randomUUID(), role: "user", content: "Type" }],
      state,
      tools: [],
      context: [],
      forwardedProps: {},
    },
  };
}

/** What a stock client posts to watch a thread; `cursor`: the last id it got. */
export function connectionOf(url, agent, threadId, { follow = false, cursor } = {}) {
  return {
    url: `${url}${AGENT}:${agent}/connect`,
    body: {
      threadId,
      runId: randomUUID(),
      messages: [],
      state: {},
      tools: [],
      context: [],
      forwardedProps: { throughline: { follow } },
    },
    headers: cursor === undefined ? {} : { "last-event-id": cursor },
  };
}
