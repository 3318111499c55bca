import type { CallStatus, UpstreamChunk } from "@throughline/ai-core";
import { read, readArray, readMessage, readNumber, readString } from "@throughline/coerce";
import { nameOfCustom } from "./custom-events.js";
import type { Translators } from "./translator.js";

/** Translates `messages` (tuples), `updates`, `tasks` and `tools`: the cheap dialect, and the default. */
export function translateModes(translators: Translators): (chunk: UpstreamChunk) => void {
  let tasksSeen = false;
  /** Counts the updates of a namespace's nodes whose tasks have not ended yet. */
  const updated = new Map<string, number>();

  function takeUpdate(key: string): boolean {
    const count = updated.get(key) ?? 0;
    if (count > 1) updated.set(key, count - 1);
    else updated.delete(key);
    return count > 0;
  }

  function messages(ns: readonly string[], data: unknown): void {
    if (!Array.isArray(data)) return;
    const message = readMessage(data[0]);
    if (!message) return;
    const metadata: unknown = data[1];
    const path =
      readString(metadata, "langgraph_checkpoint_ns") ??
      readString(metadata, "checkpoint_ns") ??
      ns.join("|");
    const task = translators.tasks.at(path, readNumber(metadata, "langgraph_step") ?? null);
    if (message.type === "ai") translators.messages.push(message, metadata, task);
    else if (message.type === "tool") translators.tools.learn(message, task);
  }

  function updates(ns: readonly string[], data: unknown): void {
    translators.interrupts.add(read(data, "__interrupt__"), ns);
    for (const node of updatedNodes(data)) {
      if (ns.length === 0) translators.state.wrote(read(data, node));
      translators.tools.learnFrom(updatedMessages(data, node));
      const key = [...ns, node].join("|");
      if (tasksSeen) updated.set(key, (updated.get(key) ?? 0) + 1);
      // Without `tasks` an update is the only sign that a node has ended.
      if (!tasksSeen) translators.tasks.endLevel(ns.join("|"), node);
    }
  }

  function tasks(ns: readonly string[], data: unknown): void {
    const id = readString(data, "id");
    const name = readString(data, "name");
    if (id === undefined || name === undefined) return;
    tasksSeen = true;
    const task = translators.tasks.at(
      [...ns, `${name}:${id}`].join("|"),
      readNumber(read(data, "metadata"), "langgraph_step") ?? null,
      read(data, "input"),
    );
    const result = read(data, "result");
    const isOver = result !== undefined || Boolean(read(data, "error"));
    if (ns.length === 0) {
      if (isOver) translators.state.taskEnded(id);
      else translators.state.taskBegan(id);
    }
    if (!task || !isOver) return;
    const interrupts = readArray(data, "interrupts");
    translators.interrupts.add(interrupts, task.path.split("|"));
    const failed = read(data, "error") !== undefined && read(data, "error") !== null;
    const status: CallStatus = failed ? "error" : "ok";
    translators.tools.learnFrom(updatedMessages(data, "result"));
    // A task that threw is reported like one without result, but without an update before.
    const isUpdated = takeUpdate([...ns, name].join("|"));
    if (interrupts.length > 0) translators.tasks.ask(task);
    else if (status === "ok" && !isUpdated && isEmpty(result)) translators.tasks.markUncertain(task);
    else translators.tasks.end(task, status, result);
  }

  function tools(ns: readonly string[], data: unknown): void {
    const task = translators.tasks.at(ns.join("|"));
    const name = readString(data, "name") ?? "tool";
    const id = readString(data, "toolCallId") ?? readString(data, "tool_call_id");
    switch (readString(data, "event")) {
      case "on_tool_start":
        translators.tools.start(id, name, read(data, "input"), task);
        return;
      case "on_tool_event":
        if (id !== undefined) translators.tools.update(id, read(data, "data"));
        return;
      case "on_tool_end":
        if (id === undefined) return;
        if (task) translators.tasks.endSubgraph(task, id, "ok", read(data, "output"));
        translators.tools.finish(id, name, read(data, "output"), task);
        return;
      case "on_tool_error":
        if (id === undefined) return;
        if (task) translators.tasks.endSubgraph(task, id, "error");
        translators.failure.tool(name, id, read(data, "error"));
        translators.tools.fail(id, name, task);
        return;
    }
  }

  return ({ ns, mode, data }) => {
    switch (mode) {
      case "messages":
      case "messages-tuple":
        return messages(ns, data);
      case "updates":
        return updates(ns, data);
      case "tasks":
        return tasks(ns, data);
      case "tools":
        return tools(ns, data);
      case "checkpoints":
        updated.clear();
        // On resume the task of a reused sibling is announced but never ended: the superstep's checkpoint ends it.
        return translators.tasks.endLevel(ns.join("|"));
    }
  };
}

function isEmpty(result: unknown): boolean {
  return typeof result === "object" && result !== null && Object.keys(result).length === 0;
}

/** Translates the modes that are the same in both dialects. `false` when the chunk is of another mode. */
export function translateShared(translators: Translators): (chunk: UpstreamChunk) => boolean {
  const seenCheckpoints = new Set<string>();

  function checkpoint(ns: readonly string[], data: unknown): void {
    // In-process payloads carry the whole `configurable`: only ids leave this function.
    const config = read(read(data, "config"), "configurable");
    const id = readString(data, "id") ?? readString(config, "checkpoint_id");
    const path = ns.join("|");
    if (path === "" || id === undefined || seenCheckpoints.has(`${path} ${id}`)) return;
    seenCheckpoints.add(`${path} ${id}`);
    const task = translators.tasks.at(path);
    const site = translators.tasks.siteAt(path);
    if (!task || !site) return;
    const step = readNumber(data, "step") ?? readNumber(read(data, "metadata"), "step") ?? null;
    translators.sink.emit("subgraph_checkpoint", site, {
      checkpoint_id: id,
      node: task.node,
      // A checkpoint never changes, so its id identifies the state: hashing that would cost 5 ms a megabyte.
      state_digest: digest(`${id} ${step}`),
      step,
    });
  }

  return ({ ns, mode, data }) => {
    switch (mode) {
      case "values":
        translators.interrupts.add(read(data, "__interrupt__"), ns);
        if (ns.length === 0) {
          translators.tools.learnFrom(read(data, "messages"));
          translators.conversation.values(read(data, "messages"));
          translators.state.values(data);
        } else translators.tasks.state(ns.join("|"), data);
        return true;
      case "checkpoints":
        checkpoint(ns, data);
        return true;
      case "custom": {
        const named = nameOfCustom(data);
        translators.custom(
          named.name,
          named.data,
          translators.tasks.siteAt(ns.join("|")) ?? translators.root,
        );
        return true;
      }
      case "error":
        translators.failure.noteError(data);
        return true;
      default:
        return false;
    }
  };
}

/** The nodes in the `updates` of one superstep: `{ node: partialState, … }`, possibly with `__interrupt__` and `__metadata__`. */
function updatedNodes(data: unknown): readonly string[] {
  if (typeof data !== "object" || data === null) return [];
  return Object.keys(data).filter((key) => !key.startsWith("__"));
}

function updatedMessages(data: unknown, node: string): readonly unknown[] {
  const update = read(data, node);
  const list = readArray(update, "messages");
  return list.length > 0 || !Array.isArray(update)
    ? list
    : update.flatMap((item) => [...readArray(item, "messages")]);
}
/** A short fingerprint of a text, to distinguish checkpoints; not for security. */
function digest(text: string): string {
  // FNV-1a in two lanes of 32 bits: pure, and 64 bits are plenty to distinguish a thread's checkpoints.
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
  }
  return (a >>> 0).toString(16).padStart(8, "0") + (b >>> 0).toString(16).padStart(8, "0");
}
