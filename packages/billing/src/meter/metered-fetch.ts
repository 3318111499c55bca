import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import {
  type CallLabels,
  type Clock,
  type ExecutorType,
  isMetered,
  type KeyResolver,
  labelRequest,
  markMetered,
  outsideOfRun,
  type RunContext,
  requestTarget,
  retryStore,
  systemClock,
  toRefusal,
} from "@throughline/ai-core";
import { hashKey } from "../keys/resolvers.js";
import { type LedgerStore, type NewUnit, NO_USAGE_SEEN, type ResponseUsage } from "../ledger/ledger.js";
import type { MeterObserver } from "./events.js";
import { modelOfRequest } from "./model-name.js";
import { meterResponse, type Verdict } from "./response.js";

/** A call that is about to be made. */
export interface PlannedCall {
  readonly run: MeteredRun;
  readonly model: string | null;
  /** The tenant's key. Never store or log it. */
  readonly token: string;
}

export interface CallAnswer {
  readonly status: number;
  /** The model group that answered; another than was asked for after a fallback. */
  readonly servedModel: string | null;
}

/** Refuses a call by throwing a `ThroughlineError`: its model, its account's budget. */
export type CallCheck = (call: PlannedCall) => Promise<void>;

export interface MeterOptions {
  /** LiteLLM's address. Requests to its origin are metered. */
  readonly baseUrl: string;
  readonly ledger: Pick<LedgerStore, "open" | "charge" | "doubt">;
  readonly keys: KeyResolver;
  /** Asked in order before a call is recorded and sent. */
  readonly checks?: readonly CallCheck[];
  /** Default: the run of `withMeteredRun`. */
  readonly currentRun?: () => MeteredRun | undefined;
  /** Called with each response, as soon as it is there. Must not throw. */
  readonly onAnswer?: (call: PlannedCall, answer: CallAnswer) => void;
  readonly observer?: MeterObserver;
  readonly clock?: Clock;
  /** Sends requests. Default: `fetch` as it is now. */
  readonly send?: typeof fetch;
  /** How long a call waits to be recorded while the ledger is away. Default 10 s. */
  readonly openTimeoutMs?: number;
  /** How long an answer waits for a ledger that is away. Default 2 s. */
  readonly holdMs?: number;
  /** How long writing a price is tried. Default 60 s. */
  readonly writeTimeoutMs?: number;
}

/**
 * A `fetch` that gives every request to LiteLLM the tenant's key and labels, records it before it is sent, and prices it
 * before its response's end is handed on. Retries of client libraries are requests of their own. A request that belongs to no
 * run is refused. Other hosts are left alone; what looks like a model call there is reported to the observer.
 */
export function createMeteredFetch(options: MeterOptions): typeof fetch {
  const {
    ledger,
    keys,
    checks = [],
    currentRun = currentMeteredRun,
    observer = {},
    clock = systemClock,
  } = options;
  const {
    send = globalThis.fetch,
    openTimeoutMs = 10_000,
    holdMs = 2_000,
    writeTimeoutMs = 60_000,
  } = options;
  if (isMetered(send)) throw new Error("This fetch is metered already: a request would be charged twice.");
  const { origin } = new URL(options.baseUrl);
  const nextOrdinal = createAttemptCounter();
  const record = createOutcomeRecorder({ ledger, clock, observer, holdMs, writeTimeoutMs });

  async function prepare(
    url: URL,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<{ unit: NewUnit; run: MeteredRun; token: string }> {
    const run = currentRun();
    if (!run) throw outsideOfRun();
    /** An outage of the store is a pause, not the call's failure. */
    const withRetry = <Result>(work: () => Promise<Result>) =>
      retryStore({ clock, signal, patienceMs: openTimeoutMs }, work);
    const { caller } = run;
    const model = modelOfRequest(url.pathname, body);
    const token = await withRetry(() => keys.resolveKey(caller.virtualKeyId, caller.billingAccountId));
    for (const check of checks) await withRetry(() => check({ run, model, token }));
    const unit: NewUnit = {
      unitId: randomUUID(),
      runId: run.runId,
      attempt: run.attempt,
      ordinal: nextOrdinal(run),
      account: caller.billingAccountId,
      subject: caller.subject,
      virtualKeyId: caller.virtualKeyId,
      keyHash: hashKey(token),
      requestId: run.ingressRequestId,
      traceId: caller.traceId,
      threadId: run.threadId,
      graphId: run.graphId,
      executorType: run.executorType,
      model,
    };
    await withRetry(() => ledger.open(unit));
    observer.opened?.(unit);
    return { unit, run, token };
  }

  async function meteredFetch(
    input: Parameters<typeof fetch>[0],
    init?: Parameters<typeof fetch>[1],
  ): Promise<Response> {
    const request = input instanceof Request ? input : undefined;
    const { method, url } = requestTarget(input, init);
    if (method !== "POST") return send(input, init);
    if (url.origin !== origin) {
      if (isModelCallPath(url.pathname)) observer.escaped?.({ origin: url.origin, path: url.pathname });
      return send(input, init);
    }
    const signal = init?.signal ?? request?.signal ?? undefined;
    signal?.throwIfAborted();
    let prepared: Awaited<ReturnType<typeof prepare>>;
    try {
      prepared = await prepare(url, init?.body ?? (await request?.clone().text()), signal);
    } catch (error) {
      const { code, response } = toRefusal(error);
      observer.refused?.(code);
      return response;
    }
    const { unit, run, token } = prepared;
    const recordVerdict = (verdict: Parameters<typeof record>[1], seen = NO_USAGE_SEEN) =>
      record(unit, verdict, seen);
    if (signal?.aborted) {
      await recordVerdict({ kind: "priced", amount: 0n, evidence: "not_sent" });
      signal.throwIfAborted();
    }
    const own = new Headers(init?.headers ?? request?.headers);
    const headers = labelRequest(own, { token, labels: labelsOf(run, unit.unitId) });
    try {
      const response = await send(input, { ...init, headers });
      const servedModel = response.headers.get("x-litellm-model-group");
      options.onAnswer?.({ run, model: unit.model, token }, { status: response.status, servedModel });
      if (servedModel !== null && unit.model !== null && servedModel !== unit.model) {
        observer.servedOther?.(unit, servedModel);
      }
      return await meterResponse(response, { recordVerdict, signal });
    } catch (error) {
      await recordVerdict(
        neverSent(error)
          ? { kind: "priced", amount: 0n, evidence: "not_sent" }
          : { kind: "doubt", reason: signal?.aborted ? "aborted" : "no_response" },
      );
      throw error;
    }
  }

  return markMetered(meteredFetch);
}

function labelsOf({ caller, ...run }: MeteredRun, usageUnitId: string): CallLabels {
  return {
    accountId: caller.billingAccountId,
    virtualKeyId: caller.virtualKeyId,
    runId: run.runId,
    attempt: run.attempt,
    usageUnitId,
    threadId: run.threadId,
    requestId: run.ingressRequestId,
    traceId: caller.traceId,
    executorType: run.executorType,
  };
}

export interface RecorderOptions {
  readonly ledger: Pick<LedgerStore, "charge" | "doubt">;
  readonly clock: Clock;
  readonly observer: MeterObserver;
  /** How long an answer waits for its price to be written. */
  readonly holdMs: number;
  /** How long the writing is tried. Past it, reconciliation finds the unit in doubt. */
  readonly writeTimeoutMs: number;
}

/**
 * Writes the outcome of a unit. Resolves once it is written, or after `holdMs`: a ledger that is away delays a response a
 * little and never breaks it. Never rejects.
 */
function createOutcomeRecorder(
  options: RecorderOptions,
): (unit: NewUnit, verdict: Verdict, seen: ResponseUsage) => Promise<void> {
  const { ledger, clock, observer, holdMs, writeTimeoutMs } = options;

  async function write(unit: NewUnit, verdict: Verdict, seen: ResponseUsage): Promise<void> {
    try {
      if (verdict.kind === "priced") {
        const charge = { amount: verdict.amount, evidence: verdict.evidence, seen };
        await retryStore({ clock, patienceMs: writeTimeoutMs }, () => ledger.charge(unit.unitId, charge));
        observer.priced?.(unit, charge);
      } else {
        await retryStore({ clock, patienceMs: writeTimeoutMs }, () =>
          ledger.doubt(unit.unitId, verdict.reason, seen),
        );
        observer.doubted?.(unit, verdict.reason);
      }
    } catch (error) {
      observer.billingFailed?.(unit, error);
    }
  }

  return (unit, verdict, seen) =>
    new Promise((resolve) => {
      const timer = clock.schedule(holdMs, resolve);
      void write(unit, verdict, seen).then(() => {
        timer.cancel();
        resolve();
      });
    });
}

/** More attempts than one process has under way at once; the oldest is evicted first. */
const REMEMBERED = 10_000;

/** Numbers the calls of each attempt of a run, from 1. */
function createAttemptCounter(): (run: Pick<MeteredRun, "runId" | "attempt">) => number {
  const counts = new Map<string, number>();
  return ({ runId, attempt }) => {
    const key = `${runId}/${attempt}`;
    const count = (counts.get(key) ?? 0) + 1;
    // Back to the end of the map's order.
    counts.delete(key);
    counts.set(key, count);
    evictOldest(counts, REMEMBERED);
    return count;
  };
}
/** The connection was never made, so LiteLLM saw nothing of the request. */
const BEFORE_CONNECTING = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/** Whether an exception of `fetch` means that nothing was sent. */
function neverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  // Several addresses of one host were tried.
  const causes: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return causes.length > 0 && causes.every(isBeforeConnecting);
}

function isBeforeConnecting(cause: unknown): boolean {
  return (
    cause instanceof Error &&
    "code" in cause &&
    typeof cause.code === "string" &&
    BEFORE_CONNECTING.has(cause.code)
  );
}
const MODEL_PATH =
  /\/(?:chat\/completions|completions|responses|messages|embeddings|images\/(?:generations|edits)|audio\/(?:speech|transcriptions|translations)|rerank|converse(?:-stream)?|invoke(?:-with-response-stream)?)\/?$|:(?:generate|streamGenerate|embed|batchEmbed)Contents?$/;

/** Whether a request looks like a call of a model, at any provider: such a call was not metered. */
function isModelCallPath(pathname: string): boolean {
  return MODEL_PATH.test(pathname);
}
/** Bounds a map that would grow without end: past `limit` the entry that was set first is evicted. */
export function evictOldest(map: Map<string, unknown>, limit: number): void {
  if (map.size <= limit) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}

/** The run that a model call is made for and charged to. */
export interface MeteredRun extends Omit<RunContext, "profile"> {
  readonly executorType: ExecutorType;
}

const storage = new AsyncLocalStorage<MeteredRun>();

/** Model calls made by `work`, and by everything it starts, belong to the run. */
export function withMeteredRun<Result>(run: MeteredRun, work: () => Result): Result {
  return storage.run(run, work);
}

export function currentMeteredRun(): MeteredRun | undefined {
  return storage.getStore();
}
