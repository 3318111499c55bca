import type { CallStatus, UpstreamChunk } from "@throughline/ai-core";
import { read, readArray, readMessage, readNumber, readString } from "@throughline/coerce";
import type { RunParts } from "./run-parts.js";
import { reportToolError, updatedMessages, updatedNodes } from "./shared-modes.js";

/** `messages` (tuples), `updates`, `tasks` and `tools`: the cheap dialect, and the default. */
export function createModesDialect(parts: RunParts): (chunk: UpstreamChunk) => void {
  let tasksSeen = false;

  function messages(ns: readonly string[], data: unknown): void {
    if (!Array.isArray(data)) return;
    const message = readMessage(data[0]);
    if (!message) return;
    const metadata: unknown = data[1];
    const path =
      readString(metadata, "langgraph_checkpoint_ns") ??
      readString(metadata, "checkpoint_ns") ??
      ns.join("|");
    const task = parts.tasks.at(path, readNumber(metadata, "langgraph_step") ?? null);
    if (message.type === "ai") parts.messages.push(message, metadata, task);
    else if (message.type === "tool") parts.tools.learn(message, task);
  }

  function updates(ns: readonly string[], data: unknown): void {
    parts.interrupts.add(read(data, "__interrupt__"), ns);
    for (const node of updatedNodes(data)) {
      if (ns.length === 0) parts.state.wrote(read(data, node));
      parts.tools.learnFrom(updatedMessages(data, node));
      // Without `tasks` nobody else says that a node has ended.
      if (!tasksSeen) parts.tasks.endLevel(ns.join("|"), node);
    }
  }

  function tasks(ns: readonly string[], data: unknown): void {
    const id = readString(data, "id");
    const name = readString(data, "name");
    if (id === undefined || name === undefined) return;
    tasksSeen = true;
    const task = parts.tasks.at(
      [...ns, `${name}:${id}`].join("|"),
      readNumber(read(data, "metadata"), "langgraph_step") ?? null,
    );
    if (ns.length === 0) {
      if (read(data, "result") === undefined) parts.state.taskBegan(id);
      else parts.state.taskEnded(id);
    }
    if (!task || read(data, "result") === undefined) return;
    const interrupts = readArray(data, "interrupts");
    parts.interrupts.add(interrupts, task.path.split("|"));
    const failed = read(data, "error") !== undefined && read(data, "error") !== null;
    const status: CallStatus = interrupts.length > 0 ? "interrupted" : failed ? "error" : "ok";
    parts.tools.learnFrom(updatedMessages(data, "result"));
    parts.tasks.end(task, status, read(data, "result"));
  }

  function tools(ns: readonly string[], data: unknown): void {
    const task = parts.tasks.at(ns.join("|"));
    const name = readString(data, "name") ?? "tool";
    const id = readString(data, "toolCallId") ?? readString(data, "tool_call_id");
    switch (readString(data, "event")) {
      case "on_tool_start":
        parts.tools.start(id, name, read(data, "input"), task);
        return;
      case "on_tool_event":
        if (id !== undefined) parts.tools.update(id, read(data, "data"));
        return;
      case "on_tool_end":
        if (id !== undefined) parts.tools.finish(id, name, read(data, "output"), task);
        return;
      case "on_tool_error":
        if (id === undefined) return;
        reportToolError(parts, name, id, read(data, "error"));
        parts.tools.fail(id, name, task);
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
        // A reused sibling's task is announced on resume but never ended: the superstep's checkpoint ends it.
        return parts.tasks.endLevel(ns.join("|"));
    }
  };
}
