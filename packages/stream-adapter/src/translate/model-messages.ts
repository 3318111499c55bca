import {
  addUsage,
  type CallStatus,
  type ContentPart,
  type JsonObject,
  type TokenUsage,
} from "@throughline/ai-core";
import {
  asRecord,
  type IncomingMessage,
  read,
  readFinishReason,
  readNumber,
  readString,
  toToolCall,
  type UnknownRecord,
} from "@throughline/coerce";
import type { CallSite, DraftBuffer } from "../envelope-draft.js";
import type { Task } from "./task-tree.js";
import type { ToolCalls } from "./tool-calls.js";

/** In characters: counting bytes would cost more than the precision is worth. */
const MAX_ARGS_LENGTH = 64 * 1024;

interface StreamedCall {
  readonly index: number;
  id: string | undefined;
  name: string | undefined;
  announced: boolean;
  /** Args that arrived before id and name were known. */
  held: string;
  length: number;
  capped: boolean;
}

interface StreamedMessage {
  readonly id: string;
  readonly site: CallSite;
  /** The lane whose chunks without an id belong to it. */
  readonly lane: string;
  readonly task: Task | undefined;
  readonly synthetic: boolean;
  readonly calls: StreamedCall[];
  readonly byIndex: Map<number, StreamedCall>;
  readonly showText: boolean;
  readonly showCalls: boolean;
  readonly predictions: readonly unknown[];
  open: boolean;
  wholeSeen: boolean;
  counted: boolean;
  model: string | undefined;
  usage: TokenUsage | undefined;
  finishReason: string | undefined;
  /** All of its text, until a state of the graph holds the message; `undefined` afterwards, and where it contains media. */
  text: string | undefined;
  /** Whether it ended with its task, without an end from the model. */
  cutShort: boolean;
}

export interface ModelMessagesOptions {
  readonly sink: DraftBuffer;
  readonly root: CallSite;
  readonly tools: ToolCalls;
  /** Messages the thread held before this run: when they are repeated (after a resume, for example) they are ignored. */
  readonly isKnown: (messageId: string) => boolean;
}

export interface ModelMessages {
  /** Adds one chunk, or a whole message. `lane` distinguishes model calls whose chunks carry no id. O(1) in the past messages. */
  push(
    message: IncomingMessage,
    metadata: unknown,
    task: Task | undefined,
    lane?: string,
    whole?: boolean,
  ): void;
  /** The open message that this chunk, as the graph sent it, only adds text to. Reads as few fields as it can. */
  continuedBy(
    chunk: UnknownRecord,
  ): { readonly id: string; readonly site: CallSite; text: string | undefined } | undefined;
  /** Ends the model call; `whole` is its complete message where the dialect has it. */
  finish(messageId: string | undefined, whole: IncomingMessage | undefined, lane?: string): void;
  /** A message that streamed. `isMuted`: the graph hides some of it from subscribers while it runs. */
  find(messageId: string): { readonly isMuted: boolean } | undefined;
  /** Whether the message streamed with other text or calls than a state of the graph now holds under its id. */
  isRewritten(message: IncomingMessage): boolean;
  /**
   * Ids of this run's messages that a state's message replaces: those with the same text and calls under another id, and
   * interrupted earlier attempts of its task.
   */
  supersededBy(message: IncomingMessage): string[];
  /** Records that a state of the graph holds the message. */
  commit(messageId: string): void;
  endTask(task: Task, status: CallStatus): void;
  endAll(status: CallStatus): void;
  usage(): { readonly total: TokenUsage; readonly modelCalls: number; readonly model: string | null };
}

export function createModelMessages(options: ModelMessagesOptions): ModelMessages {
  const { sink, root, tools } = options;
  const messages = new Map<string, StreamedMessage>();
  const lanes = new Map<string, string>();
  const open = new Set<StreamedMessage>();
  /** Messages of the conversation that are in no state of the graph yet. */
  const uncommitted = new Set<StreamedMessage>();
  let total: TokenUsage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  let modelCalls = 0;
  let lastModel: string | null = null;

  function idOf(message: IncomingMessage, task: Task | undefined, lane: string | undefined): string {
    const laneKey = laneOf(task, lane);
    const current = lanes.get(laneKey);
    if (message.id !== undefined) {
      // A provider may send its id only after the first chunk: the message retains the id it was announced under.
      if (current !== undefined && lane !== undefined) return current;
      lanes.set(laneKey, message.id);
      return message.id;
    }
    if (current !== undefined && messages.get(current)?.open) return current;
    const id = `${laneKey || root.callId}/message/${(task ? task.modelCalls : messages.size) + 1}`;
    lanes.set(laneKey, id);
    return id;
  }

  function start(
    id: string,
    message: IncomingMessage,
    metadata: unknown,
    task: Task | undefined,
    whole: boolean,
    lane: string | undefined,
  ): StreamedMessage {
    const model = readString(metadata, "ls_model_name");
    const synthetic = model === undefined && readString(metadata, "ls_model_type") === undefined && whole;
    const ordinal = task ? ++task.modelCalls : messages.size + 1;
    const parentId = task ? task.path : root.callId;
    const streamed: StreamedMessage = {
      id,
      site: { callId: `${parentId}/llm/${ordinal}`, parentId, agent: task ? task.site.agent : root.agent },
      lane: laneOf(task, lane),
      task,
      synthetic,
      calls: [],
      byIndex: new Map(),
      showText: isOn(metadata, "emit-messages"),
      showCalls: isOn(metadata, "emit-tool-calls"),
      predictions: predictionsOf(metadata),
      open: false,
      wholeSeen: false,
      counted: false,
      model: message.model ?? model,
      usage: undefined,
      finishReason: undefined,
      text: "",
      cutShort: false,
    };
    messages.set(id, streamed);
    if (task?.subagentId === undefined) uncommitted.add(streamed);
    announce(streamed, metadata);
    return streamed;
  }

  function announce(streamed: StreamedMessage, metadata: unknown): void {
    streamed.open = true;
    open.add(streamed);
    sink.emit("llm_start", streamed.site, {
      message_id: streamed.id,
      model: streamed.model ?? null,
      params: paramsOf(metadata),
      node: streamed.task?.node ?? null,
      step: readNumber(metadata, "langgraph_step") ?? null,
      ...(streamed.synthetic && { synthetic: true }),
      ...(streamed.task?.subagentId !== undefined && { subagent_id: streamed.task.subagentId }),
    });
  }

  function pushToolCallChunk(streamed: StreamedMessage, chunk: unknown): void {
    const call = callFor(streamed, readNumber(chunk, "index"), readString(chunk, "id"));
    call.id ??= readString(chunk, "id");
    call.name ??= readString(chunk, "name") || undefined;
    const args = read(chunk, "args");
    appendArgs(streamed, call, typeof args === "string" ? args : "");
  }

  /** Calls are identified by (message, index); a provider that numbers every call 0 still gives each an id of its own. */
  function callFor(
    streamed: StreamedMessage,
    index: number | undefined,
    id: string | undefined,
  ): StreamedCall {
    const last = streamed.calls[streamed.calls.length - 1];
    const found = index === undefined ? (id === undefined ? last : undefined) : streamed.byIndex.get(index);
    if (found && (id === undefined || found.id === undefined || found.id === id)) return found;
    const sameId = id === undefined ? undefined : streamed.calls.find((call) => call.id === id);
    if (sameId) return sameId;
    const call: StreamedCall = {
      index: streamed.calls.length,
      id,
      name: undefined,
      announced: false,
      held: "",
      length: 0,
      capped: false,
    };
    streamed.calls.push(call);
    streamed.byIndex.set(index ?? call.index, call);
    return call;
  }

  function appendArgs(streamed: StreamedMessage, call: StreamedCall, args: string): void {
    if (call.capped) return;
    call.length += args.length;
    if (call.length > MAX_ARGS_LENGTH) {
      call.capped = true;
      sink.emit("warning", streamed.site, {
        code: "tool_args_too_large",
        message: `The arguments of ${call.name ?? "a tool call"} passed 64 K characters; the rest comes with the final message.`,
      });
      return;
    }
    if (call.id === undefined || call.name === undefined) {
      call.held += args;
      return;
    }
    if (!call.announced) {
      call.announced = true;
      const first = call.held + args;
      call.held = "";
      tools.announce(call.id, call.name, first, () => close(streamed, "ok"));
      if (streamed.showCalls)
        emitCall(streamed, { index: call.index, id: call.id, name: call.name, args: first });
      if (streamed.predictions.some((prediction) => readString(prediction, "tool") === call.name)) {
        sink.emit("custom", streamed.site, {
          name: "PredictState",
          value: plainPredictions(streamed.predictions),
        });
      }
      return;
    }
    if (args === "") return;
    tools.appendArgs(call.id, args);
    if (streamed.showCalls) emitCall(streamed, { index: call.index, args });
  }

  function emitCall(
    streamed: StreamedMessage,
    toolCall: { index: number; id?: string; name?: string; args: string },
  ): void {
    sink.emit("llm_token", streamed.site, { message_id: streamed.id, tool_call: toolCall });
  }

  /** Adds the calls of a whole message; those of a streamed message were emitted in pieces already. */
  function pushWholeCalls(streamed: StreamedMessage, message: IncomingMessage): void {
    for (const raw of message.toolCalls) {
      const whole = toToolCall(raw);
      if (!whole || streamed.calls.some((call) => call.id === whole.id)) continue;
      const call = callFor(streamed, undefined, whole.id);
      call.name = whole.name;
      appendArgs(streamed, call, whole.args);
    }
  }

  function pushParts(streamed: StreamedMessage, parts: readonly ContentPart[]): void {
    for (const part of parts) {
      const token = part.type === "text" ? { text: String(part.text) } : { part };
      sink.emit("llm_token", streamed.site, { message_id: streamed.id, ...token });
    }
  }

  function pushContent(streamed: StreamedMessage, message: IncomingMessage): void {
    if (message.reasoning !== "" && streamed.showText) {
      sink.emit("llm_token", streamed.site, { message_id: streamed.id, reasoning: message.reasoning });
    }
    if (message.parts) streamed.text = undefined;
    else if (streamed.text !== undefined) streamed.text += message.text;
    if (message.parts && streamed.showText) pushParts(streamed, message.parts);
    else if (message.text !== "" && streamed.showText) {
      const { logprob } = message;
      sink.emit("llm_token", streamed.site, {
        message_id: streamed.id,
        text: message.text,
        ...(logprob !== undefined && { logprob }),
      });
    }
    if (message.toolCallChunks.length > 0) {
      for (const chunk of message.toolCallChunks) pushToolCallChunk(streamed, chunk);
    } else if (message.toolCalls.length > 0) {
      pushWholeCalls(streamed, message);
    }
  }

  function close(streamed: StreamedMessage, status: CallStatus): void {
    if (!streamed.open) return;
    streamed.open = false;
    open.delete(streamed);
    if (!streamed.synthetic && !streamed.counted) {
      streamed.counted = true;
      modelCalls += 1;
      lastModel = streamed.model ?? lastModel;
    }
    if (streamed.usage) total = addUsage(total, streamed.usage);
    sink.emit("llm_end", streamed.site, {
      message_id: streamed.id,
      usage: streamed.usage ?? null,
      finish_reason: streamed.finishReason ?? null,
      model: streamed.model ?? null,
      status,
    });
    streamed.usage = undefined;
  }

  return {
    push(message, metadata, task, lane, whole = !message.isChunk) {
      const id = idOf(message, task, lane);
      let streamed = messages.get(id);
      if (!streamed) {
        if (options.isKnown(id)) return;
        // Where the dialect marks no ends and the provider sends no usage, the next message ends one with a finish reason.
        for (const other of open)
          if (other.task === task && other.finishReason !== undefined) close(other, "ok");
        streamed = start(id, message, metadata, task, whole, lane);
      } else if (whole || streamed.wholeSeen) {
        return;
      } else if (!streamed.open) {
        if (message.text === "" && !message.parts && message.toolCallChunks.length === 0 && !message.usage)
          return;
        announce(streamed, metadata);
      }
      pushContent(streamed, message);
      if (message.usage)
        streamed.usage = streamed.usage ? addUsage(streamed.usage, message.usage) : message.usage;
      streamed.finishReason = message.finishReason ?? streamed.finishReason;
      streamed.model = message.model ?? streamed.model;
      if (whole) {
        streamed.wholeSeen = true;
        close(streamed, "ok");
      } else if (lane === undefined && streamed.finishReason !== undefined && streamed.usage) {
        // OpenAI sends usage in a chunk of its own after the finish reason, so one without the other is not the end.
        close(streamed, "ok");
      }
    },
    continuedBy(chunk) {
      const { id, content, tool_call_chunks: calls, tool_calls: whole } = chunk;
      if (typeof content !== "string" || content === "" || typeof id !== "string") return undefined;
      if (!isEmpty(calls) || (whole !== undefined && !isEmpty(whole))) return undefined;
      if (chunk.usage_metadata !== undefined && chunk.usage_metadata !== null) return undefined;
      if (hasModelFields(asRecord(chunk.response_metadata)) || thinks(asRecord(chunk.additional_kwargs)))
        return undefined;
      const streamed = messages.get(id);
      const isPlain =
        streamed?.open && streamed.showText && !streamed.wholeSeen && lanes.get(streamed.lane) === id;
      return isPlain ? streamed : undefined;
    },
    finish(messageId, whole, lane) {
      const id = (lane === undefined ? undefined : lanes.get(lane)) ?? messageId;
      const streamed = id === undefined ? undefined : messages.get(id);
      if (!streamed?.open) return;
      if (whole?.usage) streamed.usage = whole.usage;
      streamed.finishReason = whole?.finishReason ?? streamed.finishReason;
      streamed.model = whole?.model ?? streamed.model;
      close(streamed, "ok");
    },
    find(messageId) {
      const streamed = messages.get(messageId);
      return streamed && { isMuted: !streamed.showText || !streamed.showCalls };
    },
    isRewritten(message) {
      const streamed = messages.get(message.id ?? "");
      return (
        streamed !== undefined &&
        uncommitted.has(streamed) &&
        !streamed.open &&
        !message.parts &&
        streamed.text !== undefined &&
        !isSame(streamed, message)
      );
    },
    supersededBy(message) {
      const own = messages.get(message.id ?? "");
      const ids: string[] = [];
      for (const other of uncommitted) {
        // Later messages are calls of their own.
        if (other === own) break;
        const brokeOff = own !== undefined && other.task === own.task && other.cutShort;
        const isTwin =
          own === undefined || own.synthetic ? !other.synthetic && isSame(other, message) : false;
        if (brokeOff || isTwin) ids.push(other.id);
      }
      return ids;
    },
    commit(messageId) {
      const streamed = messages.get(messageId);
      if (!streamed || !uncommitted.delete(streamed)) return;
      streamed.text = undefined;
    },
    endTask(task, status) {
      for (const streamed of open) {
        if (streamed.task !== task) continue;
        streamed.cutShort = streamed.finishReason === undefined && streamed.usage === undefined;
        close(streamed, status);
      }
    },
    endAll(status) {
      for (const streamed of open) close(streamed, status);
    },
    usage: () => ({ total, modelCalls, model: lastModel }),
  };
}

/** Compares text and calls. A message without either equals no other. */
function isSame({ text, calls }: StreamedMessage, message: IncomingMessage): boolean {
  if (text === undefined || message.parts || text !== message.text) return false;
  const ids = message.toolCalls.map((call) => readString(call, "id"));
  if (text === "" && ids.length === 0) return false;
  return ids.length === calls.length && ids.every((id, index) => id === calls[index]?.id);
}

function laneOf(task: Task | undefined, lane: string | undefined): string {
  return lane ?? task?.path ?? "";
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}

/** Whether a chunk has other fields of its model call than text. */
function hasModelFields(response: UnknownRecord | undefined): boolean {
  return (
    response !== undefined &&
    (readFinishReason(response) !== undefined ||
      response.logprobs !== undefined ||
      response.model_name !== undefined ||
      response.model !== undefined)
  );
}

function thinks(extra: UnknownRecord | undefined): boolean {
  return extra !== undefined && (extra.reasoning_content !== undefined || extra.reasoning !== undefined);
}

/** CopilotKit's convention: a graph may mute its text or its tool calls through metadata, with or without the prefix. */
function isOn(metadata: unknown, key: string): boolean {
  return read(metadata, key) !== false && read(metadata, `copilotkit:${key}`) !== false;
}

/** The settings of a model call that LangChain sends. The prompt is not among them, and must not be (R10). */
function paramsOf(metadata: unknown): JsonObject {
  const params: JsonObject = {};
  const provider = readString(metadata, "ls_provider");
  const temperature = readNumber(metadata, "ls_temperature");
  const maxTokens = readNumber(metadata, "ls_max_tokens");
  if (provider !== undefined) params.provider = provider;
  if (temperature !== undefined) params.temperature = temperature;
  if (maxTokens !== undefined) params.max_tokens = maxTokens;
  return params;
}

function predictionsOf(metadata: unknown): readonly unknown[] {
  const found = read(metadata, "predict_state") ?? read(metadata, "copilotkit:emit-intermediate-state");
  return Array.isArray(found) ? found : [];
}

function plainPredictions(predictions: readonly unknown[]) {
  return predictions.map((prediction) => ({
    state_key: readString(prediction, "state_key") ?? "",
    tool: readString(prediction, "tool") ?? "",
    tool_argument: readString(prediction, "tool_argument") ?? "",
  }));
}
