import * as client00 from "@ag-ui/client";
import * as client10 from "@ag-ui/client-1";
import {
  type BaseEvent as BaseEvent00,
  EventSchemas as EventSchemas00,
  type Message as Message00,
} from "@ag-ui/core";
import type { BaseEvent as BaseEvent10, Message as Message10 } from "@ag-ui/core-1";
import { EventSchema as EventSchema10 } from "@ag-ui/core-1/schemas";
import { EMPTY, from, lastValueFrom, type Observable } from "rxjs";
import { collectWarnings } from "./collect-warnings.js";

/** The two live lines of AG-UI clients; what we emit must mean the same to both. */
export type AgUiVersion = "0.0" | "1.0";

export interface ClientView {
  readonly messages: readonly object[];
  readonly state: unknown;
  /** What the client refused: schema and ordering violations. After the first one it applies nothing more. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

class Replay00 extends client00.AbstractAgent {
  readonly #events: readonly BaseEvent00[];

  constructor(events: readonly BaseEvent00[], initial: { messages: Message00[]; state: unknown }) {
    super({ threadId: "replay", initialMessages: initial.messages, initialState: initial.state });
    this.#events = events;
  }

  override run(): Observable<BaseEvent00> {
    return from(this.#events);
  }
}

class Replay10 extends client10.AbstractAgent {
  readonly #events: readonly BaseEvent10[];

  constructor(events: readonly BaseEvent10[], initial: { messages: Message10[]; state: unknown }) {
    super({ threadId: "replay", initialMessages: initial.messages, initialState: initial.state });
    this.#events = events;
  }

  override run(): Observable<BaseEvent10> {
    return from(this.#events);
  }
}

/**
 * What a stock client shows after these events, which may hold several runs. The client's whole pipeline runs, as it
 * does behind its own HTTP transport.
 */
export async function applyWithStockClient(
  line: AgUiVersion,
  events: readonly object[],
  initial: { readonly messages: readonly object[]; readonly state: unknown } = { messages: [], state: {} },
): Promise<ClientView> {
  const wire = asParsed(events);
  const start = structuredClone({ messages: [...initial.messages], state: initial.state });
  // Line 0.0 validates in its transport, which a replay leaves out and where the first bad event ends the stream; line
  // 1.0 does it inside the pipeline.
  const [accepted, refused] = line === "0.0" ? upToFirstProblem(line, wire) : [wire, []];
  const agent =
    line === "0.0"
      ? new Replay00(accepted.filter(isBaseEvent00), {
          messages: start.messages.filter(isMessage00),
          state: start.state,
        })
      : new Replay10(accepted.filter(isBaseEvent10), {
          messages: start.messages.filter(isMessage10),
          state: start.state,
        });
  const [failure, warnings] = await collectWarnings(() => failureOf(agent.runAgent()));
  return {
    messages: agent.messages,
    state: agent.state,
    errors: failure === undefined ? refused : [...refused, failure],
    warnings,
  };
}

/** Throws with every violation of the line's schema and of its ordering rules; returns the client's warnings. */
export async function assertValidEvents(
  line: AgUiVersion,
  events: readonly object[],
): Promise<{ readonly warnings: readonly string[] }> {
  const wire = asParsed(events);
  const [orderProblem, warnings] = await collectWarnings(() => failureOf(verified(line, wire)));
  const problems = [...problemsOf(line, wire), ...(orderProblem === undefined ? [] : [orderProblem])];
  if (problems.length > 0) throw new Error(`Not valid for AG-UI ${line}:\n${problems.join("\n")}`);
  return { warnings };
}

function verified(line: AgUiVersion, events: readonly object[]): Promise<unknown> {
  if (line === "0.0") {
    const checked = client00.verifyEvents()(client00.transformChunks()(from(events.filter(isBaseEvent00))));
    return lastValueFrom(checked, { defaultValue: EMPTY });
  }
  const enforced = client10.enforceEvents()(from(events.filter(isBaseEvent10)));
  return lastValueFrom(client10.verifyEvents()(client10.transformChunks()(enforced)), {
    defaultValue: EMPTY,
  });
}

function upToFirstProblem(
  line: AgUiVersion,
  events: readonly object[],
): [accepted: readonly object[], problems: readonly string[]] {
  const first = events.findIndex((event) => problemsOf(line, [event]).length > 0);
  return first < 0
    ? [events, []]
    : [events.slice(0, first), problemsOf(line, events.slice(first, first + 1))];
}

function problemsOf(line: AgUiVersion, events: readonly object[]): readonly string[] {
  const schema = line === "0.0" ? EventSchemas00 : EventSchema10;
  return events.flatMap((event, index) => {
    const parsed = schema.safeParse(event);
    if (parsed.success) return [];
    const issues = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    return [`event ${index}: ${JSON.stringify(event).slice(0, 200)}: ${issues.join("; ")}`];
  });
}

async function failureOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** As a client gets them: `undefined` does not travel, and nothing is shared with the maker of the events. */
function asParsed(events: readonly object[]): readonly object[] {
  return events.map((event) => {
    const parsed: unknown = JSON.parse(JSON.stringify(event));
    if (typeof parsed !== "object" || parsed === null) throw new TypeError("An event is an object.");
    return parsed;
  });
}

// The pipeline itself decides what is valid; these only say where its judgement begins.
function isBaseEvent00(event: object): event is BaseEvent00 {
  return "type" in event;
}
function isBaseEvent10(event: object): event is BaseEvent10 {
  return "type" in event;
}
function isMessage00(message: object): message is Message00 {
  return "id" in message && "role" in message;
}
function isMessage10(message: object): message is Message10 {
  return "id" in message && "role" in message;
}
