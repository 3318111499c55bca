import { randomUUID } from "node:crypto";
import { startStockServer } from "../executor/stock-server.mjs";

/**
 * LangGraph's dev server. `isResumable`: used as its documentation says for streams that one can come back to, with
 * `stream_resumable`, and `Last-Event-ID` when one does; else as a client uses it that asks for nothing. It has as many workers as
 * there are runs; as shipped it has ten.
 *
 * @returns {Promise<import("./subject.mjs").Subject>}
 */
export async function startLangGraphServer({ runs, isResumable = true }) {
  const server = await startStockServer(Math.max(10, runs));
  const post = async (path, body) => {
    const answer = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}.`);
    return answer.json();
  };
  return {
    name: isResumable ? "langgraph dev, resumable" : "langgraph dev, as shipped",
    startsAnew: false,
    async createRun(typing) {
      const { thread_id: threadId } = await post("/threads", {});
      const { run_id: runId } = await post(`/threads/${threadId}/runs`, {
        assistant_id: "typist",
        input: { messages: [{ role: "user", id: randomUUID(), content: "Type" }], ...typing },
        stream_mode: ["messages-tuple"],
        stream_resumable: isResumable,
      });
      const view = (cursor = "-1") => ({
        url: `${server.url}/threads/${threadId}/runs/${runId}/stream`,
        headers: isResumable ? { "last-event-id": cursor } : {},
      });
      return { id: runId, start: view(), view };
    },
    read(frame) {
      const cursor = /^id: ?(.*)$/m.exec(frame)?.[1];
      const event = /^event: ?(.*)$/m.exec(frame)?.[1];
      if (event === "error") return { kind: "error", text: "", cursor };
      return {
        kind: event === "messages" ? "text" : "other",
        text: event === "messages" ? frame : "",
        cursor,
      };
    },
    pids: { service: [server.pid], postgres: [] },
    eventLoopLagMs: async () => undefined,
    stop: async () => server.stop(),
  };
}
