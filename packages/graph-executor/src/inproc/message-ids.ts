import { randomUUID } from "node:crypto";
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { Serialized } from "@langchain/core/load/serializable";
import { type BaseMessage, isBaseMessage } from "@langchain/core/messages";
import { read, readString } from "@throughline/coerce";

/** Tag of LangGraph's own runnables, whose outputs are no node's. */
const HIDDEN_TAG = "langsmith:hidden";

/**
 * Assigns an id to every message that a node returns without one. LangGraph's `messages` stream gives all of them the id of the
 * node's run, so that the reducer keeps only the last. Its handler is added after those of the config, and handlers are called in
 * order; `awaitHandlers` keeps this one from being queued.
 */
export class MessageIds extends BaseCallbackHandler {
  override readonly name = "throughline_message_ids";
  override awaitHandlers = true;
  readonly #nodes = new Set<string>();

  override handleChainStart(
    _chain: Serialized,
    _inputs: unknown,
    runId: string,
    _parentRunId?: string,
    tags?: string[],
    metadata?: Record<string, unknown>,
    _runType?: string,
    runName?: string,
  ): void {
    const isNode = runName !== undefined && runName === readString(metadata, "langgraph_node");
    if (isNode && !tags?.includes(HIDDEN_TAG)) this.#nodes.add(runId);
  }

  override handleChainEnd(outputs: unknown, runId: string): void {
    if (this.#nodes.delete(runId)) giveIds(outputs);
  }

  override handleChainError(_error: unknown, runId: string): void {
    this.#nodes.delete(runId);
  }
}

/** Looks into updates, commands and lists of both, and into no value of a channel but messages and lists of them. */
function giveIds(output: unknown): void {
  if (isBaseMessage(output)) giveId(output);
  else if (Array.isArray(output)) {
    const hasCommands = output.some(isCommand);
    for (const item of output) {
      if (hasCommands || mayHoldMessages(item)) giveIds(item);
    }
  } else if (isCommand(output)) giveIds(read(output, "update"));
  else if (typeof output === "object" && output !== null) {
    Object.values(output).filter(mayHoldMessages).forEach(giveIds);
  }
}

function mayHoldMessages(value: unknown): boolean {
  return isBaseMessage(value) || Array.isArray(value) || isCommand(value);
}

/** By mark and not by class: a project brings its own copy of LangGraph. */
function isCommand(value: unknown): boolean {
  return read(value, "lg_name") === "Command";
}

/** `lc_kwargs` is what a message is stored from. */
function giveId(message: BaseMessage): void {
  if (message.id != null) return;
  message.id = randomUUID();
  message.lc_kwargs.id = message.id;
}
