import {
  AIMessage,
  AIMessageChunk,
  BaseMessage,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { z } from "zod";
import { liveLines, type Slot } from "./live-lines.js";
import type { StreamChunk } from "./stream-chunk.js";
import type { Style } from "./style.js";

const taskSchema = z.object({ id: z.string(), name: z.string() });
const taskStartSchema = taskSchema.extend({ triggers: z.array(z.string()) });
const progressSchema = z.object({ step: z.number(), of: z.number(), note: z.string().default("") });

interface OpenMessage {
  readonly slot: Slot;
  readonly indent: string;
  readonly taskId: string;
  readonly calls: Map<number, { name: string; args: string }>;
  shown: "nothing" | "reasoning" | "text";
}

export interface TerminalView {
  show(chunk: StreamChunk): void;
  /** Ends what a failed or stopped run left open. */
  endRun(): void;
  /** One line on all runs shown so far, when a model was called. */
  usage(): string | undefined;
}

/** Writes a run as a person reads it: steps, text as it comes, reasoning dimmed, tool calls, results and progress. */
export function terminalView(write: (text: string) => void, style: Style): TerminalView {
  const lines = liveLines(write);
  const open = new Map<string, OpenMessage>();
  const closed = new Set<string>();
  const usage = new Map<string, UsageMetadata>();

  const line = (depth: number, text: string) => {
    const slot = lines.open();
    slot.write(`${indented(text, "  ".repeat(depth))}\n`);
    slot.close();
  };

  const showMessage = (ns: readonly string[], message: BaseMessage) => {
    const depth = ns.length;
    if (ToolMessage.isInstance(message)) {
      const result = `← ${message.name ?? "tool"}: ${message.text}`;
      line(depth, message.status === "error" ? style.red(result) : style.dim(result));
      return;
    }
    if (!AIMessage.isInstance(message) && !AIMessageChunk.isInstance(message)) return;
    const id = message.id ?? "";
    if (message.usage_metadata) usage.set(id, message.usage_metadata);
    if (closed.has(id)) return;
    const known = open.get(id) ?? openMessage(ns, depth);
    open.set(id, known);
    showParts(known, message);
    const whole = !AIMessageChunk.isInstance(message);
    if (whole || message.response_metadata.finish_reason !== undefined) closeMessage(id, known);
  };

  const openMessage = (ns: readonly string[], depth: number): OpenMessage => ({
    slot: lines.open(),
    indent: "  ".repeat(depth),
    taskId: ns.at(-1)?.split(":").at(-1) ?? "",
    calls: new Map(),
    shown: "nothing",
  });

  const showParts = (known: OpenMessage, message: AIMessage | AIMessageChunk) => {
    const { reasoning, text } = partsOf(message);
    if (reasoning !== "") showText(known, "reasoning", reasoning, style.dim);
    if (text !== "") showText(known, "text", text, (plain) => plain);
    if (AIMessageChunk.isInstance(message)) {
      for (const { index = 0, name, args } of message.tool_call_chunks ?? []) {
        const call = known.calls.get(index) ?? { name: "", args: "" };
        known.calls.set(index, { name: call.name + (name ?? ""), args: call.args + (args ?? "") });
      }
    } else {
      for (const [index, call] of (message.tool_calls ?? []).entries()) {
        known.calls.set(index, { name: call.name, args: JSON.stringify(call.args) });
      }
    }
  };

  const showText = (
    known: OpenMessage,
    kind: "reasoning" | "text",
    text: string,
    paint: (plain: string) => string,
  ) => {
    const start = known.shown === kind ? "" : `${known.shown === "nothing" ? "" : "\n"}${known.indent}`;
    known.shown = kind;
    known.slot.write(start + paint(text.replaceAll("\n", `\n${known.indent}`)));
  };

  const closeMessage = (id: string, known: OpenMessage) => {
    if (known.shown !== "nothing") known.slot.write("\n");
    for (const { name, args } of known.calls.values()) {
      known.slot.write(`${known.indent}${style.cyan(`→ ${name}`)} ${args}\n`);
    }
    known.slot.close();
    open.delete(id);
    closed.add(id);
  };

  const showTask = (depth: number, data: unknown) => {
    const start = taskStartSchema.safeParse(data).data;
    if (start) line(depth, style.bold(`▸ ${start.name}`));
    else closeMessagesOf(taskSchema.safeParse(data).data?.id);
  };

  /** A model call that failed never says that it finished; its task does. */
  const closeMessagesOf = (taskId: string | undefined) => {
    for (const [id, known] of open) if (known.taskId === taskId) closeMessage(id, known);
  };

  return {
    show([ns, mode, data]) {
      if (mode === "tasks") showTask(ns.length, data);
      else if (mode === "custom") line(ns.length + 1, style.dim(`• ${describeProgress(data)}`));
      else if (mode === "messages" && Array.isArray(data) && BaseMessage.isInstance(data[0])) {
        showMessage(ns, data[0]);
      }
    },
    endRun() {
      for (const [id, known] of open) closeMessage(id, known);
      lines.closeAll();
    },
    usage() {
      return usage.size === 0 ? undefined : describeUsage([...usage.values()]);
    },
  };
}

/** Reasoning is a content block, or, from OpenAI-compatible proxies, a field beside the content. */
function partsOf(message: AIMessage | AIMessageChunk): { reasoning: string; text: string } {
  const beside = message.additional_kwargs.reasoning_content;
  const blocks = message.contentBlocks
    .map((block) =>
      block.type === "reasoning" && typeof block.reasoning === "string" ? block.reasoning : "",
    )
    .join("");
  return { reasoning: blocks || (typeof beside === "string" ? beside : ""), text: message.text };
}

function describeProgress(data: unknown): string {
  if (typeof data === "string") return data;
  const progress = progressSchema.safeParse(data).data;
  return progress ? `${progress.step}/${progress.of} ${progress.note}`.trim() : JSON.stringify(data);
}

function describeUsage(calls: readonly UsageMetadata[]): string {
  const total = (field: "input_tokens" | "output_tokens") =>
    calls.reduce((sum, call) => sum + call[field], 0);
  const times = calls.length === 1 ? "1 model call" : `${calls.length} model calls`;
  return `${times}, ${total("input_tokens")} tokens in, ${total("output_tokens")} out`;
}

function indented(text: string, indent: string): string {
  return indent + text.replaceAll("\n", `\n${indent}`);
}
