import type { LogEntry } from "@throughline/ai-core";
import {
  applyEntry,
  createAgUiEncoder,
  emptyThreadProjection,
  snapshotMessages,
  type ThreadProjection,
} from "@throughline/reading";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { expect } from "vitest";
import {
  applyWithStockClient,
  assertValidEvents,
} from "../../packages/stream-adapter/src/testing/stock-client.js";
import type { Check, GalleryEntry } from "./gallery.js";
import type { PlainTurn } from "./plain-graph.js";
import type { Event, GalleryService, ServedThread } from "./served-graph.js";
import { linesShown, plainValues } from "./shown-lines.js";

export interface Compared extends Turns {
  readonly entry: GalleryEntry;
  readonly service: GalleryService;
}

/** The turns of one entry, by the plain graph and through a service. */
export interface Turns {
  readonly plain: readonly PlainTurn[];
  readonly served: ServedThread;
}

/** The suite's four assertions about one graph. Each throws where the service differs from the plain graph. */
export const CHECKS: Readonly<Record<Check, (compared: Compared) => void | Promise<void>>> = {
  checkpoint: checkpointEquals,
  supersteps: superstepsAreShown,
  viewers: viewersAgree,
  protocols: protocolsAgree,
};

/** The final state, messages, interrupts and outcome of every turn are the plain graph's. */
export function checkpointEquals({ plain, served }: Turns): void {
  const last = plain.at(-1);
  for (const [index, turn] of plain.entries()) {
    const { view, events } = served.turns[index] ?? { view: undefined, events: [] };
    expect({ turn: index, failed: events.at(-1)?.type === "RUN_ERROR" }).toEqual({
      turn: index,
      failed: turn.error !== undefined,
    });
    if (turn.lines.length > 0) expect(linesShown(view?.messages ?? [])).toEqual(turn.lines);
    expect(plainValues(asRecord(view?.state))).toEqual(turn.output);
    const custom = events.flatMap((event) => (event.type === "CUSTOM" ? [event.value] : []));
    expect(custom).toEqual(expect.arrayContaining([...turn.custom]));
  }
  expect(served.state.next).toEqual(last?.next ?? []);
  expect(served.state.interrupts.map(({ value }) => value)).toEqual(last?.interrupts ?? []);
}

/** Before a superstep begins, a viewer has every message that the checkpoint of the one before holds. */
function superstepsAreShown({ plain, served }: Compared): void {
  let fold = emptyThreadProjection;
  for (const [index, { entries }] of served.turns.entries()) {
    const committed = [...(plain[index]?.supersteps ?? [])];
    let open = 0;
    for (const entry of entries) {
      const { envelope } = entry;
      if (envelope.parent_id === envelope.run_id && envelope.type === "step_end") open -= 1;
      if (envelope.parent_id === envelope.run_id && envelope.type === "step_start") {
        // The first task of a superstep: what the one before committed was streamed by then.
        const lines = open === 0 ? committed.shift() : undefined;
        if (lines) expectShown(fold, lines, `turn ${index}, ${committed.length} supersteps before its end`);
        open += 1;
      }
      if (isCheckpointWord(entry) && plain[index]?.error === undefined)
        expectShown(fold, plain[index]?.lines ?? [], `turn ${index}, before its end`);
      fold = applyEntry(fold, entry);
    }
    // A breakpoint or the recursion limit ends a run before its next superstep begins.
    const left = plain[index]?.next.length === 0 ? 0 : 1;
    expect(committed.length, `supersteps of turn ${index} that the log does not show`).toBeLessThanOrEqual(
      left,
    );
  }
}

function isCheckpointWord({ envelope }: LogEntry): boolean {
  return envelope.type === "state_snapshot" && envelope.payload.checkpoint_id !== undefined;
}

function expectShown(fold: ThreadProjection, lines: readonly string[], when: string): void {
  const shown = linesShown(snapshotMessages(fold, { line: "0.0" }));
  expect({ when, missing: lines.filter((line) => !shown.includes(line)) }).toEqual({ when, missing: [] });
}

/** A viewer who joins at any entry and a page that reloads see what the live viewer saw. */
async function viewersAgree({ entry, served }: Compared): Promise<void> {
  const live = served.turns.at(-1)?.view;
  const expected = { lines: linesShown(live?.messages ?? []), state: plainValues(asRecord(live?.state)) };
  expect(live).toMatchObject({ errors: [], warnings: [] });
  expect({
    lines: linesShown(served.reload.messages),
    state: plainValues(asRecord(served.reload.state)),
  }).toEqual(expected);
  const entries = served.turns.flatMap((turn) => turn.entries);
  const samples = [0.25, 0.5, 0.75].map((share) => Math.floor(entries.length * share));
  for (const [index, at] of samples.entries()) {
    const line = index % 2 === 0 ? "0.0" : "1.0";
    const face = createAgUiEncoder({ threadName: served.threadName, line, interrupts: "standard" });
    let fold = entries.slice(0, at).reduce(applyEntry, emptyThreadProjection);
    const last = entries[at - 1];
    const frames = [...face.fullSnapshot(fold, last && { epoch: last.epoch, seq: last.seq })];
    for (const each of entries.slice(at)) {
      frames.push(...face.frames(fold, each));
      fold = applyEntry(fold, each);
    }
    const view = await applyWithStockClient(
      line,
      frames.map(({ event }) => event),
    );
    const late = { lines: linesShown(view.messages), state: plainValues(asRecord(view.state)) };
    expect({ graph: entry.name, at, late, errors: view.errors }).toEqual({
      graph: entry.name,
      at,
      late: expected,
      errors: [],
    });
  }
}

/** Every protocol passes its stock client, and all agree on the final text of each turn. */
async function protocolsAgree({ entry, plain, served, service }: Compared): Promise<void> {
  for (const { events } of served.turns) await assertValidEvents("0.0", events);
  const other = await service.run(entry, "1.0");
  for (const { events } of other.turns) await assertValidEvents("1.0", events);
  const lines = (thread: ServedThread) => linesShown(thread.turns.at(-1)?.view.messages ?? []);
  expect(lines(other)).toEqual(lines(served));
  const texts = plain.map(({ finalText, error }) => (error === undefined ? finalText : undefined));
  const chats = await service.chat(entry);
  for (const [index, response] of (chats ?? []).entries()) {
    const shown = await textOfChat(response);
    if (texts[index] !== undefined)
      expect({ index, chat: shown }).toEqual({ index, chat: withoutFiles(texts[index]) });
  }
  const runs = await service.aiEvents(entry);
  for (const [index, events] of (runs ?? []).entries()) {
    if (texts[index] !== undefined)
      expect({ index, aiEvents: finalText(events) }).toEqual({ index, aiEvents: texts[index] });
  }
}

/** A UI message has files in parts of their own. */
function withoutFiles(text: string): string {
  return text.replace(/\n\n!\[.*?\]\(.*?\)\n\n/g, "");
}

function finalText(events: readonly Event[]): unknown {
  return events.findLast(({ type }) => type === "assistant_final")?.content;
}

/** The last text part of the message that `useChat` would show. */
async function textOfChat(response: Response): Promise<string | undefined> {
  const transport = new DefaultChatTransport<UIMessage>({ api: "http://any", fetch: async () => response });
  const stream = await transport.reconnectToStream({ chatId: "any" });
  let last: UIMessage | undefined;
  const failure = (error: unknown) => {
    if (!(error instanceof Error)) throw error;
  };
  if (stream) for await (const state of readUIMessageStream({ stream, onError: failure })) last = state;
  const shown = (last?.parts ?? []).flatMap((part) => (part.type === "text" ? [part] : []));
  return shown.at(-1)?.text;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
