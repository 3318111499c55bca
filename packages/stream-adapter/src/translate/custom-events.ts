import { read, readString, toPlain } from "@throughline/coerce";
import type { CallSite, DraftBuffer } from "../envelope-draft.js";
import type { StateChanges } from "./state.js";
import type { ToolCalls } from "./tool-calls.js";

export interface CustomEventsOptions {
  readonly sink: DraftBuffer;
  readonly state: StateChanges;
  readonly tools: ToolCalls;
}

/**
 * Translates events of a graph's stream writer or `dispatchCustomEvent`. Those with the names that CopilotKit's users emit
 * become messages, tool calls or state; all others are passed on under their own names.
 */
export function createCustomEvents({ sink, state, tools }: CustomEventsOptions) {
  let ordinal = 0;
  /** Reserved names that a warning was emitted for. */
  const renamed = new Set<string>();

  function emitMessage(data: unknown, site: CallSite): void {
    ordinal += 1;
    const id =
      readString(data, "message_id") ?? readString(data, "id") ?? `${site.callId}/emitted/${ordinal}`;
    const text = readString(data, "message") ?? readString(data, "content") ?? "";
    const call = { callId: `${site.callId}/emitted/${ordinal}`, parentId: site.callId, agent: site.agent };
    sink.emit("llm_start", call, {
      message_id: id,
      model: null,
      params: {},
      node: null,
      step: null,
      synthetic: true,
    });
    if (text !== "") sink.emit("llm_token", call, { message_id: id, text });
    sink.emit("llm_end", call, {
      message_id: id,
      usage: null,
      finish_reason: null,
      model: null,
      status: "ok",
    });
  }

  function emitToolCall(data: unknown, site: CallSite): void {
    ordinal += 1;
    const call = { callId: `${site.callId}/emitted/${ordinal}`, parentId: site.callId, agent: site.agent };
    const id = readString(data, "id") ?? call.callId;
    const name = readString(data, "name") ?? "tool";
    const rawArgs = read(data, "args");
    const args = typeof rawArgs === "string" ? rawArgs : JSON.stringify(toPlain(rawArgs ?? {}));
    const message_id = readString(data, "message_id") ?? `${id}/message`;
    tools.announce(id, name, args);
    sink.emit("llm_start", call, {
      message_id,
      model: null,
      params: {},
      node: null,
      step: null,
      synthetic: true,
    });
    sink.emit("llm_token", call, { message_id, tool_call: { index: 0, id, name, args } });
    sink.emit("llm_end", call, { message_id, usage: null, finish_reason: null, model: null, status: "ok" });
  }

  /** Renames a graph's event with a reserved name: clients would read it as one of ours. */
  function ownName(name: string, site: CallSite): string {
    if (!isReserved(name)) return name;
    const given = `graph.${name}`;
    if (!renamed.has(name)) {
      renamed.add(name);
      sink.emit("warning", site, {
        code: "reserved_event_name",
        message: `The custom event name "${name.slice(0, 200)}" is reserved; it is sent as "${given.slice(0, 200)}". Choose another name.`,
      });
    }
    return given;
  }

  return (name: string, data: unknown, site: CallSite): void => {
    switch (name.replace(/^copilotkit_/, "")) {
      case "manually_emit_message":
        emitMessage(data, site);
        break;
      case "manually_emit_tool_call":
        emitToolCall(data, site);
        break;
      case "manually_emit_state":
      case "manually_emit_intermediate_state":
        state.preview(data);
        break;
      default:
        sink.emit("custom", site, { name: ownName(name, site), value: toPlain(data) });
    }
  };
}

/** Whether the protocol itself sends events of this name. */
function isReserved(name: string): boolean {
  return /^throughline\./i.test(name) || /^on_interrupt/i.test(name);
}

/** Finds the name of a custom event. The writer accepts any value; these are the fields where people put a name. */
export function nameOfCustom(data: unknown): { readonly name: string; readonly data: unknown } {
  const name = readString(data, "name") ?? readString(data, "event");
  if (name?.includes("manually_emit_"))
    return { name, data: read(data, "data") ?? read(data, "value") ?? data };
  return { name: name ?? readString(data, "type") ?? "custom", data };
}
