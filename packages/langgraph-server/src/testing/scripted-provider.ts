import type {
  GraphDescriptor,
  GraphFinal,
  GraphRunRequest,
  Message,
  UpstreamChunk,
} from "@throughline/ai-core";
import type { GraphProvider } from "@throughline/graph-executor";

/** A run that does what a test says, when it says so. */
export interface ScriptedRun {
  readonly request: GraphRunRequest;
  /** One piece of the assistant's one message. */
  say(text: string): void;
  /** `interrupted`: as at a breakpoint, where a graph asks nothing. */
  end(status?: "success" | "interrupted"): void;
}

export interface ScriptedProvider extends GraphProvider {
  /** The next run that starts, or one that started before it was asked for. */
  nextRun(): Promise<ScriptedRun>;
}

export const DESCRIPTOR: GraphDescriptor = {
  graphId: "langgraph:scripted",
  graphName: "scripted",
  name: "Scripted",
  description: "Does what a test says.",
  capabilities: ["chat"],
  commands: [],
  inputSchema: { type: "object", properties: { messages: {} } },
  outputSchema: { type: "object", properties: { messages: {} } },
};

/** A backend with one graph, driven by hand: for tests about delivery, where what a graph does is beside the point. */
export function createScriptedProvider(): ScriptedProvider {
  const started: ScriptedRun[] = [];
  const asked: ((run: ScriptedRun) => void)[] = [];
  const threads = new Map<string, { readonly checkpointId: string; readonly messages: Message[] }>();

  function announce(run: ScriptedRun): void {
    const waiting = asked.shift();
    if (waiting) waiting(run);
    else started.push(run);
  }

  return {
    providerId: "langgraph",
    executorType: "inproc",
    nextRun() {
      const run = started.shift();
      return run ? Promise.resolve(run) : new Promise((resolve) => asked.push(resolve));
    },
    runGraph(request) {
      const node = `agent:${request.runId}`;
      const answer: Message = { id: `ai-${request.runId}`, role: "assistant", content: "" };
      const pieces: UpstreamChunk[] = [];
      let text = "";
      let ended: "success" | "interrupted" | undefined;
      let wake = () => {};
      let settle: (final: GraphFinal) => void = () => {};
      const final = new Promise<GraphFinal>((resolve) => {
        settle = resolve;
      });
      request.signal.addEventListener("abort", () => wake());
      announce({
        request,
        say(piece) {
          text += piece;
          pieces.push({
            ns: [node],
            mode: "messages",
            data: [
              { type: "AIMessageChunk", id: answer.id, content: piece },
              { langgraph_node: "agent", langgraph_step: 1, langgraph_checkpoint_ns: node },
            ],
          });
          wake();
        },
        end(status = "success") {
          ended = status;
          wake();
        },
      });

      async function* stream(): AsyncGenerator<UpstreamChunk> {
        try {
          while (!request.signal.aborted) {
            const piece = pieces.shift();
            if (piece) yield piece;
            else if (ended) break;
            else
              await new Promise<void>((resolve) => {
                wake = resolve;
              });
          }
        } finally {
          const asked = request.start.kind === "input" ? request.start.messages : [];
          const messages = [
            ...(threads.get(request.threadId)?.messages ?? []),
            ...asked,
            { ...answer, content: text },
          ];
          threads.set(request.threadId, { checkpointId: request.runId, messages });
          settle({
            ok: ended !== undefined,
            status: ended ?? "cancelled",
            checkpointId: request.runId,
            state: {},
            messages,
            interrupts: [],
          });
        }
      }
      return { stream: stream(), final };
    },
    async getState({ threadId }) {
      const thread = threads.get(threadId);
      return thread && { ...thread, state: {}, next: [], interrupts: [] };
    },
    history: async () => [],
    updateState: async () => "",
    committedMessages: async () => new Set(),
    async copyThread(from, _checkpointId, to) {
      const thread = threads.get(from.threadId);
      if (thread) threads.set(to.threadId, thread);
    },
    async deleteThread({ threadId }) {
      threads.delete(threadId);
    },
    listAgents: async () => [DESCRIPTOR],
    getAgent: async (graphId) => (graphId === DESCRIPTOR.graphId ? DESCRIPTOR : undefined),
  };
}
