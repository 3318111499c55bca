import { type BaseMessage, HumanMessage, isBaseMessage } from "@langchain/core/messages";
import { Command, InMemoryStore, isCommand, MemorySaver } from "@langchain/langgraph";
import type { Json } from "@throughline/ai-core";
import type { GalleryEntry, Turn } from "./gallery.js";
import { inCallOrder, lineOf, plainValues, shownText } from "./shown-lines.js";

/** What the plain graph did in one turn: the oracle of every check. */
export interface PlainTurn {
  /** Shown lines of the messages that were committed before each of the turn's supersteps began. */
  readonly supersteps: readonly (readonly string[])[];
  readonly lines: readonly string[];
  /** The graph's output without its messages, as JSON. */
  readonly output: Readonly<Record<string, unknown>>;
  readonly interrupts: readonly Json[];
  readonly next: readonly string[];
  /** Name of the error the graph threw. */
  readonly error: string | undefined;
  /** What the graph wrote to its custom stream. */
  readonly custom: readonly unknown[];
  /** Text of the last message a model or node gave in this turn. */
  readonly finalText: string | undefined;
}

/** The parts of a compiled graph that the oracle uses; every kind of graph has them. */
export interface PlainGraph {
  checkpointer?: unknown;
  store?: unknown;
  outputChannels: unknown;
  stream(input: unknown, config: object): Promise<AsyncIterable<readonly [string, unknown]>>;
  getState(config: object): Promise<StateLike>;
  getStateHistory(config: object): AsyncIterable<StateLike>;
}
interface StateLike {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly metadata?: { readonly step?: number; readonly source?: string };
  readonly tasks: readonly { readonly interrupts: readonly { id?: string; value?: unknown }[] }[];
}

/** Runs an entry's turns on the plain graph, with the saver and store LangGraph itself brings. */
export async function runPlain(
  graph: PlainGraph,
  { name, turns }: GalleryEntry,
): Promise<readonly PlainTurn[]> {
  graph.checkpointer = new MemorySaver();
  graph.store = new InMemoryStore();
  const config = { configurable: { thread_id: `plain ${name}` } };
  const results: PlainTurn[] = [];
  for (const [index, turn] of turns.entries()) {
    const before = index === 0 ? undefined : await graph.getState(config);
    results.push(await runTurn(graph, config, inputOf(turn, messageId(name, index), before), before));
  }
  return results;
}

export const messageId = (name: string, turn: number) => `${name}-user-${turn}`;

function inputOf(turn: Turn, id: string, state: StateLike | undefined): unknown {
  if ("goOn" in turn) return null;
  if ("answer" in turn) {
    const open = interruptsOf(state);
    const resume = Object.fromEntries(open.map((each) => [each.id ?? "", turn.answer(each.value)]));
    return new Command({ resume });
  }
  const messages = "say" in turn ? { messages: [new HumanMessage({ id, content: turn.say })] } : {};
  return { ...turn.state, ...messages };
}

async function runTurn(
  graph: PlainGraph,
  config: object,
  input: unknown,
  before: StateLike | undefined,
): Promise<PlainTurn> {
  let output: Record<string, unknown> = {};
  const custom: unknown[] = [];
  let error: string | undefined;
  try {
    // With `messages` among the modes LangGraph itself would change what the graph commits.
    const stream = await graph.stream(input, { ...config, streamMode: ["values", "custom"] });
    for await (const [mode, data] of stream) {
      if (mode === "custom") custom.push(data);
      else if (typeof data === "object" && data !== null && !("__interrupt__" in data)) output = { ...data };
    }
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.name : String(thrown);
  }
  const state = await readState(graph, config);
  if (!state) return { ...NOTHING, error: "unreadable checkpoint" };
  const past: (readonly string[])[] = [];
  for await (const { metadata, values } of graph.getStateHistory(config)) {
    if ((metadata?.step ?? 0) < (before?.metadata?.step ?? -1)) break;
    if (metadata?.source !== "input") past.unshift(messagesOf({ values }).map(lineOf));
  }
  // A turn with input begins after its own first checkpoint, a resumed one at the checkpoint it found.
  const supersteps = before && input !== null && !isCommand(input) ? past.slice(1) : past;
  const seen = new Set(messagesOf(before).map(({ id }) => id));
  const fresh = messagesOf(state).filter((message) => message.getType() === "ai" && !seen.has(message.id));
  return {
    // What the last superstep committed begins none; an interrupted or failed one may have begun.
    supersteps: state.next.length > 0 ? supersteps : supersteps.slice(0, -1),
    lines: inCallOrder(messagesOf(state).map(lineOf)),
    output: plainValues(pick(graph, output)),
    interrupts: interruptsOf(state).map(({ value }) => value as Json),
    next: state.next,
    error,
    custom,
    finalText: fresh.flatMap((message) => shownText(message) || []).at(-1),
  };
}

function interruptsOf(state: StateLike | undefined) {
  return (state?.tasks ?? []).flatMap(({ interrupts }) => interrupts);
}

/** Undefined where LangGraph's own saver can't read what it wrote. */
async function readState(graph: PlainGraph, config: object): Promise<StateLike | undefined> {
  return graph.getState(config).catch(() => undefined);
}

const NOTHING: PlainTurn = {
  supersteps: [],
  lines: [],
  output: {},
  interrupts: [],
  next: [],
  error: undefined,
  custom: [],
  finalText: undefined,
};

function messagesOf(state: Pick<StateLike, "values"> | undefined): readonly BaseMessage[] {
  const values = state?.values;
  if (typeof values !== "object" || values === null || !("messages" in values)) return [];
  return Array.isArray(values.messages) ? values.messages.filter(isBaseMessage) : [];
}

/** What `invoke` would give. */
function pick(graph: PlainGraph, values: Record<string, unknown>): Record<string, unknown> {
  const { outputChannels } = graph;
  if (!Array.isArray(outputChannels)) return values;
  return Object.fromEntries(outputChannels.flatMap((key) => (key in values ? [[key, values[key]]] : [])));
}
