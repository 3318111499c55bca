import type { RunAgentInput } from "@ag-ui/client";

/** A failure that a client is told as RUN_ERROR, with a code it can act on. */
export class ConnectFailure extends Error {
  readonly code: ConnectFailureCode;

  constructor(code: ConnectFailureCode, message: string) {
    super(message);
    this.name = "ConnectFailure";
    this.code = code;
  }
}

export type ConnectFailureCode =
  | "THREAD_ID_MISSING"
  | "UPSTREAM_UNAVAILABLE"
  | "RUN_FAILED"
  | "CONNECT_FAILED";

/** Where a client has read to: an event id of one run's stream. Without a run id it means the run that is active now. */
export interface LastEvent {
  readonly runId?: string;
  readonly position: number;
}

/** The thread of a connect: `threadId`, or `config.configurable.thread_id` as LangGraph's own run config spells it. */
export function threadIdOf(input: RunAgentInput): string | undefined {
  if (input.threadId) return input.threadId;
  for (const holder of [input, objectOf(input.forwardedProps)]) {
    const config = objectOf(propertyOf(holder, "config"));
    const threadId = propertyOf(objectOf(propertyOf(config, "configurable")), "thread_id");
    if (typeof threadId === "string" && threadId !== "") return threadId;
  }
  return undefined;
}

/** `forwardedProps.lastEventId`: what `metadata.langgraph.lastEventId` of a RAW event said, or a bare event id. */
export function lastEventOf(input: RunAgentInput): LastEvent | undefined {
  const value = propertyOf(objectOf(input.forwardedProps), "lastEventId");
  const [, runId, digits] = /^(?:(.+):)?(\d{1,15})$/.exec(String(value ?? "")) ?? [];
  if (digits === undefined) return undefined;
  return { ...(runId === undefined ? {} : { runId }), position: Number(digits) };
}

/** The form in which `lastEventOf` reads a position back. */
export function lastEventId(runId: string, eventId: string): string {
  return `${runId}:${eventId}`;
}

export function objectOf(value: unknown): object | undefined {
  return typeof value === "object" && value !== null ? value : undefined;
}

export function propertyOf(holder: object | undefined, name: string): unknown {
  return holder === undefined ? undefined : Reflect.get(holder, name);
}
