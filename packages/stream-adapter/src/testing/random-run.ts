import type { GraphFinal, Interrupt, Json, JsonObject, UpstreamChunk } from "@throughline/ai-core";
import { jsonObjectSchema } from "@throughline/ai-core";
import type fc from "fast-check";
import { type MessagePlan, type NodePlan, type RunPlan, runPlan, type StepPlan } from "./random-run-plan.js";
import { messagesOf, withoutFiles } from "./recording.js";

/** A made-up run in the `modes` dialect, and what its checkpoint holds at the end. */
export interface RandomRun {
  readonly chunks: readonly UpstreamChunk[];
  /** When each chunk came, in milliseconds. */
  readonly times: readonly number[];
  readonly final: GraphFinal;
  /** The same run once more, as after a crash: the same tasks, but messages with new ids, and the end it would have come to. */
  readonly again: Omit<RandomRun, "again">;
}

export const randomRun: fc.Arbitrary<RandomRun> = runPlan.map((plan) => ({
  ...taken(enact(plan, "message")),
  again: taken(enact({ ...plan, ending: "success" }, "again")),
}));

/** The same, read by a driver that forgot to take the files out of it. */
export const untakenRun: fc.Arbitrary<Omit<RandomRun, "again">> = runPlan.map((plan) =>
  enact(plan, "message"),
);

function taken({ chunks, times, final }: Omit<RandomRun, "again">): Omit<RandomRun, "again"> {
  const state = jsonObjectSchema.parse(withoutFiles(final.state ?? {}));
  return {
    chunks: chunks.map((chunk) => ({ ...chunk, data: withoutFiles(chunk.data) })),
    times,
    final: { ...final, state, messages: messagesOf(state) },
  };
}

/** One node's chunks in order, and what it leaves in the state. */
interface Enacted {
  readonly chunks: UpstreamChunk[];
  readonly messages: JsonObject[];
  readonly state: JsonObject;
  readonly interrupts: Interrupt[];
}

function enact(plan: RunPlan, messageKind: string): Omit<RandomRun, "again"> {
  let ids = 0;
  const nextId = (kind: string) => `${kind}-${++ids}`;
  let roll = 0;
  const dice = () => plan.dice[roll++ % plan.dice.length] ?? 0;

  function runSteps(steps: readonly StepPlan[], ns: readonly string[], before: JsonObject): Enacted {
    const all: Enacted = { chunks: [], messages: [], state: { ...before }, interrupts: [] };
    for (const step of steps) {
      const nodes = step.map((node, index) => runNode(node, ns, `node${index}`));
      all.chunks.push(...interleave(nodes.map((node) => node.chunks)));
      for (const node of nodes) {
        all.messages.push(...node.messages);
        Object.assign(all.state, node.state);
        all.interrupts.push(...node.interrupts);
      }
      if (all.interrupts.length > 0) {
        const list = all.interrupts.map(({ interrupt_id: id, value }) => ({ id, value }));
        all.chunks.push({ ns, mode: "updates", data: { __interrupt__: list } });
        all.chunks.push({ ns, mode: "values", data: { __interrupt__: list } });
        return all;
      }
      all.chunks.push({ ns, mode: "values", data: { ...all.state, messages: [...all.messages] } });
      all.chunks.push({
        ns,
        mode: "checkpoints",
        data: { id: nextId("checkpoint"), step: 1, source: "loop" },
      });
    }
    return all;
  }

  function runNode(node: NodePlan, ns: readonly string[], name: string): Enacted {
    const id = nextId("task");
    const path = [...ns, `${name}:${id}`];
    const inner = nodeBody(node, path, name);
    const result: JsonObject =
      inner.interrupts.length > 0 ? {} : { ...inner.state, messages: inner.messages };
    const interrupts = inner.interrupts.map(({ interrupt_id, value }) => ({ id: interrupt_id, value }));
    return {
      ...inner,
      // What a subgraph had done before it asks is not committed in the graph above it.
      messages: inner.interrupts.length > 0 ? [] : inner.messages,
      state: inner.interrupts.length > 0 ? {} : inner.state,
      chunks: [
        { ns, mode: "tasks", data: { id, name, input: {}, interrupts: [] } },
        ...inner.chunks,
        { ns, mode: "tasks", data: { id, name, result, interrupts } },
      ],
    };
  }

  function nodeBody(node: NodePlan, path: readonly string[], name: string): Enacted {
    const empty: Enacted = { chunks: [], messages: [], state: {}, interrupts: [] };
    switch (node.kind) {
      case "model": {
        const spoken = node.messages.map((message) => speak(message, path));
        return {
          ...empty,
          chunks: spoken.flatMap((each) => each.chunks),
          messages: spoken.flatMap((each) => each.messages),
        };
      }
      case "authored": {
        const message = { type: "ai", id: nextId(messageKind), content: node.text };
        return { ...empty, chunks: [messageChunk(path, message, {})], messages: [message] };
      }
      case "writer":
        return {
          ...empty,
          chunks: [{ ns: path, mode: "custom", data: { type: "progress", value: node.value } }],
          state: { [node.key]: node.value },
        };
      case "subgraph":
        return runSteps(node.steps, path, {});
      case "delegates":
        return delegate(node.steps, path);
      case "asks":
        return {
          ...empty,
          interrupts: [{ interrupt_id: nextId("interrupt"), value: node.value, node: name, ns: [...path] }],
        };
    }
  }

  /** A model calls a tool that runs a graph of its own; what is said in there stays in there. */
  function delegate(steps: readonly StepPlan[], path: readonly string[]): Enacted {
    const [callId, askId, answerId] = [nextId("call"), nextId(messageKind), nextId(messageKind)];
    const call = { id: callId, name: "task", args: { subagent_type: "scout" } };
    const asking: JsonObject = { type: "ai", id: askId, content: "", tool_calls: [call] };
    const tool = { toolCallId: callId, name: "task" };
    const inner = runSteps(steps, path, {});
    const answer: JsonObject = {
      type: "tool",
      id: answerId,
      name: "task",
      tool_call_id: callId,
      content: "found",
    };
    const opening: UpstreamChunk[] = [
      messageChunk(path, asking, { ls_model_type: "chat" }),
      {
        ns: path,
        mode: "tools",
        data: { event: "on_tool_start", ...tool, input: JSON.stringify(call.args) },
      },
      ...inner.chunks,
    ];
    if (inner.interrupts.length > 0) return { ...inner, chunks: opening };
    return {
      chunks: [
        ...opening,
        { ns: path, mode: "tools", data: { event: "on_tool_end", ...tool, output: { ...answer, id: null } } },
        messageChunk(path, answer, {}),
      ],
      messages: [asking, answer],
      state: {},
      interrupts: [],
    };
  }

  /** A model's message piece by piece, then the tools it asked for, all in one node. */
  function speak(plan: MessagePlan, path: readonly string[]): Pick<Enacted, "chunks" | "messages"> {
    const id = nextId(messageKind);
    const chunk = (fields: JsonObject) =>
      messageChunk(
        path,
        { type: "ai", id, content: "", tool_call_chunks: [], ...fields },
        { ls_model_type: "chat", ls_model_name: "m" },
      );
    const calls = plan.calls.map((call, index) => ({
      ...call,
      index,
      id: nextId("call"),
      name: `tool${index}`,
    }));
    const chunks: UpstreamChunk[] = [
      ...plan.reasoning.map((reasoning) => chunk({ content: [{ type: "reasoning", reasoning, index: 0 }] })),
      ...plan.text.map((piece) => chunk({ content: typeof piece === "string" ? piece : [piece] })),
      ...interleave(
        calls.map((call) => {
          const args = JSON.stringify(call.args);
          const half = dice() % (args.length + 1);
          return [
            chunk({
              tool_call_chunks: [
                { index: call.index, id: call.id, name: call.name, args: args.slice(0, half) },
              ],
            }),
            chunk({ tool_call_chunks: [{ index: call.index, args: args.slice(half) }] }),
          ];
        }),
      ),
    ];
    const finish = { response_metadata: { finish_reason: "stop", model_name: "m" } };
    const usage = { usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } };
    if (plan.usageInOwnChunk) chunks.push(chunk(finish), chunk(usage));
    else chunks.push(chunk({ ...finish, ...usage }));
    const results = calls.map((call) => ({
      type: "tool",
      id: nextId(messageKind),
      name: call.name,
      tool_call_id: call.id,
      content: call.result,
      ...(call.fails && { status: "error" }),
    }));
    calls.forEach((call, index) => {
      const tool = { toolCallId: call.id, name: call.name };
      chunks.push({
        ns: path,
        mode: "tools",
        data: { event: "on_tool_start", ...tool, input: JSON.stringify(call.args) },
      });
      chunks.push({
        ns: path,
        mode: "tools",
        data: call.fails
          ? { event: "on_tool_error", ...tool, error: {} }
          : {
              event: "on_tool_end",
              ...tool,
              output: { type: "tool", tool_call_id: call.id, content: call.result },
            },
      });
      const message = results[index];
      if (message) chunks.push(messageChunk(path, message, {}));
    });
    const said: JsonObject = {
      type: "ai",
      id,
      content: plan.text.every((piece) => typeof piece === "string")
        ? plan.text.join("")
        : plan.text.map((piece) => (typeof piece === "string" ? { type: "text", text: piece } : piece)),
      tool_calls: calls.map((call) => ({ id: call.id, name: call.name, args: call.args })),
    };
    return { chunks, messages: [said, ...results] };
  }

  function interleave<T>(lists: readonly (readonly T[])[]): T[] {
    const rest = lists.map((list) => [...list]).filter((list) => list.length > 0);
    const merged: T[] = [];
    while (rest.length > 0) {
      const index = dice() % rest.length;
      const next = rest[index]?.shift();
      if (next !== undefined) merged.push(next);
      if (rest[index]?.length === 0) rest.splice(index, 1);
    }
    return merged;
  }

  const user: JsonObject = { type: "human", id: "user-1", content: "go" };
  const run = runSteps(plan.steps, [], {});
  const interrupted = run.interrupts.length > 0;
  const status = interrupted && plan.ending === "success" ? "interrupted" : plan.ending;
  const broken = status === "cancelled" || status === "error";
  const chunks = broken ? run.chunks.slice(0, Math.floor(run.chunks.length * plan.cutAt)) : run.chunks;
  if (status === "error")
    chunks.push({ ns: [], mode: "error", data: { error: "TypeError", message: "sk-secret" } });
  const values: JsonObject = broken
    ? lastValues(chunks, user)
    : { ...run.state, messages: [user, ...run.messages] };
  let now = 0;
  return {
    chunks,
    times: chunks.map(() => (now += dice() % 40)),
    final: {
      ok: status !== "error",
      status,
      checkpointId: "final",
      state: values,
      messages: messagesOf(values),
      interrupts: status === "interrupted" ? run.interrupts : [],
    },
  };
}

/** What the checkpoint holds of a run that broke off: the last superstep of the root that was completed. */
function lastValues(chunks: readonly UpstreamChunk[], user: JsonObject): JsonObject {
  const committed = chunks.findLast(
    (chunk) => chunk.mode === "values" && chunk.ns.length === 0 && !hasInterrupt(chunk.data),
  );
  const data = committed?.data;
  if (typeof data !== "object" || data === null || !("messages" in data) || !Array.isArray(data.messages)) {
    return { messages: [user] };
  }
  return { ...(data as JsonObject), messages: [user, ...(data.messages as Json[])] };
}

function hasInterrupt(data: unknown): boolean {
  return typeof data === "object" && data !== null && "__interrupt__" in data;
}

function messageChunk(path: readonly string[], message: JsonObject, metadata: JsonObject): UpstreamChunk {
  return {
    ns: path,
    mode: "messages",
    data: [message, { ...metadata, langgraph_checkpoint_ns: path.join("|") }],
  };
}
