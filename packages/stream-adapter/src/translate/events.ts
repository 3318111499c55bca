import type { UpstreamChunk } from "@throughline/ai-core";
import { asLoose, asString, type Loose, read, readArray, readMessage, readString } from "@throughline/coerce";
import type { RunParts } from "./translator.js";

/**
 * streamEvents v2. The only hierarchy in it is `langgraph_checkpoint_ns`; a node's own run is the one tagged
 * `graph:step:n`, everything else under that path is plumbing inside the node.
 */
export function createEventsDialect(parts: RunParts): (chunk: UpstreamChunk) => void {
  /** Upstream run ids of tools → the calls they are. */
  const toolRuns = new Map<string, string>();

  function isNodeRun(event: unknown): boolean {
    return readArray(event, "tags").some((tag) => typeof tag === "string" && tag.startsWith("graph:step:"));
  }

  function chain(kind: string, event: unknown, path: string | undefined, metadata: Loose | undefined): void {
    const data = read(event, "data");
    if (kind === "on_chain_start") parts.tools.learnFrom(read(read(data, "input"), "messages"));
    if (path === undefined) {
      if (kind === "on_chain_end") rootOutput(read(data, "output"));
      else if (kind === "on_chain_stream")
        parts.interrupts.add(read(read(data, "chunk"), "__interrupt__"), []);
      return;
    }
    if (!isNodeRun(event)) return;
    const input = kind === "on_chain_start" ? read(data, "input") : undefined;
    const task = parts.tasks.at(path, asStep(metadata), input);
    if (!task || kind !== "on_chain_end") return;
    const output = read(data, "output");
    const update = read(output, "lg_name") === "Command" ? read(output, "update") : output;
    parts.tools.learnFrom(read(update, "messages"));
    for (const raw of readArray(update, "messages")) {
      const message = readMessage(raw);
      if (message?.type === "ai" && message.id !== undefined)
        parts.messages.push(message, {}, task, undefined, true);
    }
    parts.tasks.end(task, "ok", output);
  }

  function rootOutput(output: unknown): void {
    parts.tools.learnFrom(read(output, "messages"));
    parts.conversation.values(read(output, "messages"));
    parts.interrupts.add(read(output, "__interrupt__"), []);
    if (typeof output === "object" && output !== null) parts.state.values(output);
  }

  function token(event: Loose, path: string | undefined, metadata: Loose | undefined): void {
    const message = readMessage(asLoose(event.data)?.chunk);
    if (!message) return;
    const task = parts.tasks.at(path ?? "", asStep(metadata));
    parts.messages.push(message, metadata, task, asString(event.run_id) ?? path ?? "", false);
  }

  function modelEnd(event: Loose, path: string | undefined, metadata: Loose | undefined): void {
    const lane = asString(event.run_id) ?? path ?? "";
    const task = parts.tasks.at(path ?? "", asStep(metadata));
    const output = read(event.data, "output");
    const whole = readMessage(output) ?? readMessage(firstGeneration(output));
    if (whole?.type === "ai") parts.messages.push(whole, metadata, task, lane, true);
    parts.messages.finish(whole?.id, whole, lane);
  }

  function tool(kind: string, event: unknown, path: string | undefined): void {
    const runId = readString(event, "run_id") ?? "";
    const name = readString(event, "name") ?? "tool";
    const data = read(event, "data");
    const task = parts.tasks.at(path ?? "");
    if (kind === "on_tool_start") {
      const given = readString(event, "toolCallId") ?? readString(data, "toolCallId");
      const input = read(data, "input");
      toolRuns.set(runId, parts.tools.start(given ?? parts.tools.match(name, input), name, input, task));
      return;
    }
    const output = read(data, "output");
    const callId =
      readString(output, "tool_call_id") ??
      toolRuns.get(runId) ??
      parts.tools.match(name, read(data, "input"));
    if (callId === undefined) return;
    if (kind === "on_tool_end") {
      if (task) parts.tasks.endSubgraph(task, callId, "ok", output);
      parts.tools.finish(callId, name, output, task);
    } else if (kind === "on_tool_error") {
      if (task) parts.tasks.endSubgraph(task, callId, "error");
      parts.failure.tool(name, callId, read(data, "error"));
      parts.tools.fail(callId, name, task);
    }
  }

  return ({ ns, mode, data }) => {
    if (mode === "updates") return parts.interrupts.add(read(data, "__interrupt__"), ns);
    const event = mode === "events" ? asLoose(data) : undefined;
    if (!event || typeof event.event !== "string") return;
    const kind = event.event;
    const metadata = asLoose(event.metadata);
    const path = metadata && (asString(metadata.langgraph_checkpoint_ns) ?? asString(metadata.checkpoint_ns));
    switch (kind) {
      case "on_chat_model_stream":
        return token(event, path, metadata);
      case "on_chat_model_end":
        return modelEnd(event, path, metadata);
      case "on_chain_start":
      case "on_chain_stream":
      case "on_chain_end":
        return chain(kind, event, path, metadata);
      case "on_tool_start":
      case "on_tool_end":
      case "on_tool_error":
        return tool(kind, event, path);
      case "on_custom_event": {
        const site = parts.tasks.siteAt(path ?? "") ?? parts.root;
        return parts.custom(asString(event.name) ?? "custom", event.data, site);
      }
    }
  };
}

function asStep(metadata: Loose | undefined): number | null {
  return metadata && typeof metadata.langgraph_step === "number" ? metadata.langgraph_step : null;
}

function firstGeneration(output: unknown): unknown {
  return read(readArray(output, "generations").flat()[0], "message");
}
