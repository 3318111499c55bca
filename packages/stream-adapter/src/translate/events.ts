import type { UpstreamChunk } from "@throughline/ai-core";
import {
  asRecord,
  asString,
  read,
  readArray,
  readMessage,
  readString,
  type UnknownRecord,
} from "@throughline/coerce";
import type { Translators } from "./translator.js";

/**
 * Translates streamEvents v2. Its only hierarchy is `langgraph_checkpoint_ns`; a node's own run is the one tagged
 * `graph:step:n`, all other runs under that path are internals of the node.
 */
export function translateEvents(translators: Translators): (chunk: UpstreamChunk) => void {
  /** Call ids by the upstream's run ids of tools. */
  const toolRuns = new Map<string, string>();

  function isNodeRun(event: unknown): boolean {
    return readArray(event, "tags").some((tag) => typeof tag === "string" && tag.startsWith("graph:step:"));
  }

  function chain(
    kind: string,
    event: unknown,
    path: string | undefined,
    metadata: UnknownRecord | undefined,
  ): void {
    const data = read(event, "data");
    if (kind === "on_chain_start") translators.tools.learnFrom(read(read(data, "input"), "messages"));
    if (path === undefined) {
      if (kind === "on_chain_end") rootOutput(read(data, "output"));
      else if (kind === "on_chain_stream")
        translators.interrupts.add(read(read(data, "chunk"), "__interrupt__"), []);
      return;
    }
    if (!isNodeRun(event)) return;
    const input = kind === "on_chain_start" ? read(data, "input") : undefined;
    const task = translators.tasks.at(path, asStep(metadata), input);
    if (!task || kind !== "on_chain_end") return;
    const output = read(data, "output");
    const update = read(output, "lg_name") === "Command" ? read(output, "update") : output;
    translators.tools.learnFrom(read(update, "messages"));
    for (const raw of readArray(update, "messages")) {
      const message = readMessage(raw);
      if (message?.type === "ai" && message.id !== undefined)
        translators.messages.push(message, {}, task, undefined, true);
    }
    translators.tasks.end(task, "ok", output);
  }

  function rootOutput(output: unknown): void {
    translators.tools.learnFrom(read(output, "messages"));
    translators.conversation.values(read(output, "messages"));
    translators.interrupts.add(read(output, "__interrupt__"), []);
    if (typeof output === "object" && output !== null) translators.state.values(output);
  }

  function token(event: UnknownRecord, path: string | undefined, metadata: UnknownRecord | undefined): void {
    const message = readMessage(asRecord(event.data)?.chunk);
    if (!message) return;
    const task = translators.tasks.at(path ?? "", asStep(metadata));
    translators.messages.push(message, metadata, task, asString(event.run_id) ?? path ?? "", false);
  }

  function modelEnd(
    event: UnknownRecord,
    path: string | undefined,
    metadata: UnknownRecord | undefined,
  ): void {
    const lane = asString(event.run_id) ?? path ?? "";
    const task = translators.tasks.at(path ?? "", asStep(metadata));
    const output = read(event.data, "output");
    const whole = readMessage(output) ?? readMessage(firstGeneration(output));
    if (whole?.type === "ai") translators.messages.push(whole, metadata, task, lane, true);
    translators.messages.finish(whole?.id, whole, lane);
  }

  function tool(kind: string, event: unknown, path: string | undefined): void {
    const runId = readString(event, "run_id") ?? "";
    const name = readString(event, "name") ?? "tool";
    const data = read(event, "data");
    const task = translators.tasks.at(path ?? "");
    if (kind === "on_tool_start") {
      const given = readString(event, "toolCallId") ?? readString(data, "toolCallId");
      const input = read(data, "input");
      toolRuns.set(
        runId,
        translators.tools.start(given ?? translators.tools.match(name, input), name, input, task),
      );
      return;
    }
    const output = read(data, "output");
    const callId =
      readString(output, "tool_call_id") ??
      toolRuns.get(runId) ??
      translators.tools.match(name, read(data, "input"));
    if (callId === undefined) return;
    if (kind === "on_tool_end") {
      if (task) translators.tasks.endSubgraph(task, callId, "ok", output);
      translators.tools.finish(callId, name, output, task);
    } else if (kind === "on_tool_error") {
      if (task) translators.tasks.endSubgraph(task, callId, "error");
      translators.failure.tool(name, callId, read(data, "error"));
      translators.tools.fail(callId, name, task);
    }
  }

  return ({ ns, mode, data }) => {
    if (mode === "updates") return translators.interrupts.add(read(data, "__interrupt__"), ns);
    const event = mode === "events" ? asRecord(data) : undefined;
    if (!event || typeof event.event !== "string") return;
    const kind = event.event;
    const metadata = asRecord(event.metadata);
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
        const site = translators.tasks.siteAt(path ?? "") ?? translators.root;
        return translators.custom(asString(event.name) ?? "custom", event.data, site);
      }
    }
  };
}

function asStep(metadata: UnknownRecord | undefined): number | null {
  return metadata && typeof metadata.langgraph_step === "number" ? metadata.langgraph_step : null;
}

function firstGeneration(output: unknown): unknown {
  return read(readArray(output, "generations").flat()[0], "message");
}
