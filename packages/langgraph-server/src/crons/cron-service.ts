import { randomUUID } from "node:crypto";
import {
  type AgentCatalogPort,
  type Caller,
  type Clock,
  parseGraphId,
  ThroughlineError,
  toGraphId,
} from "@throughline/ai-core";
import type { RegistryStatus } from "@throughline/thread-log";
import type { ServiceObserver } from "../operations/observer.js";
import { requireAcceptedConfig } from "../runs/run-configuration.js";
import { decodePageCursor, encodePageCursor, type PageCursor } from "../threads/paging.js";
import type { Cron, CronScope, CronTick, TickOutcome } from "./cron.js";
import type { CronChange, CronDefinition } from "./cron-definition.js";
import {
  type DeliveryDeps,
  deliverTick,
  failedOutcome,
  observeTicks,
  startCronRunner,
  TICK_LEASE_MS,
  threadOf,
} from "./cron-runner.js";
import type { CronEntry, CronStore } from "./cron-store.js";
import { manualTick, nextTime } from "./plan-tick.js";
import { parseSchedule } from "./schedule.js";

/** Crons an account may have. */
export const DEFAULT_MAX_CRONS = 100;

export interface CronServiceOptions extends Omit<DeliveryDeps, "store"> {
  readonly store: CronStore;
  readonly agents: AgentCatalogPort;
  readonly clock: Clock;
  readonly observer: ServiceObserver;
  readonly random: () => number;
  /** Whether crons that are due are started here. */
  readonly delivers: boolean;
  /** How long another instance's changes may go unnoticed. */
  readonly everyMs: number;
  readonly maxCrons: number;
}

export function createCronService(options: CronServiceOptions): CronService {
  const { registry, agents } = options;
  options.store.onBadRow((row) => options.observer.badRow(row));
  const store = observeTicks(options.store, options.observer);
  const runner = options.delivers
    ? startCronRunner({ ...options, store, deliver: (claimed) => deliverTick(options, claimed) })
    : undefined;

  async function create(caller: Caller, sent: CronDefinition): Promise<CronWithTick> {
    const definition = await accept(agents, sent);
    const cron = await store.create(caller.billingAccountId, options.maxCrons, (now) =>
      scheduled(
        {
          ...scopeOf(caller),
          id: randomUUID(),
          virtualKeyId: caller.virtualKeyId,
          definition,
          anchorAt: now,
          nextAt: undefined,
          dueAt: undefined,
          createdAt: now,
          updatedAt: now,
        },
        now,
      ),
    );
    if (!cron) {
      throw new ThroughlineError(
        "rate_limited",
        `maxCrons: this account has ${options.maxCrons} crons already. Delete one that is no longer needed.`,
        { details: { limit: "maxCrons", max: options.maxCrons } },
      );
    }
    void runner?.now();
    return { cron, lastTick: undefined };
  }

  async function change(caller: Caller, id: string, changes: CronChange): Promise<CronWithTick> {
    const scope = scopeOf(caller);
    const known = await find(scope, id);
    await accept(agents, { ...known.cron.definition, ...definedOnly(changes) });
    const entry = await store.change(scope, id, (cron, now) =>
      changed(cron, changes, caller.virtualKeyId, now),
    );
    if (!entry) throw notFound();
    void runner?.now();
    return showCron(entry);
  }

  async function runNow(scope: CronScope, id: string): Promise<TickWithRun> {
    const claimed = await store.addTick(scope, id, TICK_LEASE_MS, (cron, now) =>
      manualTick(cron, now, `now-${randomUUID()}`),
    );
    if (!claimed) throw notFound();
    const { cron, tick } = claimed;
    let outcome: TickOutcome;
    try {
      outcome = await deliverTick(options, claimed);
    } catch (error) {
      // The caller gets the error now, so the tick is not tried again later.
      await store.settle(tick, failedOutcome(error));
      throw error;
    }
    await store.settle(tick, outcome);
    if (outcome.kind === "skipped") throw refusal(outcome);
    return showTick(cron, { ...tick, outcome });
  }

  async function find(scope: CronScope, id: string): Promise<CronEntry> {
    const entry = await store.find(scope, id);
    if (!entry) throw notFound();
    return entry;
  }

  async function showTick(cron: Cron, tick: CronTick): Promise<TickWithRun> {
    if (tick.outcome.kind !== "started") return { ...tick, runStatus: undefined };
    const run = await registry.find(threadOf(cron, tick).ref, { runId: tick.outcome.runId });
    return { ...tick, runStatus: run?.status };
  }

  async function showCron({ cron, lastTick }: CronEntry): Promise<CronWithTick> {
    return { cron, lastTick: lastTick && (await showTick(cron, lastTick)) };
  }

  return {
    create,
    change,
    runNow,
    async list(scope, page) {
      const found = await store.list(scope, toStorePage(page));
      const { items, next } = cut(found, page, ({ cron }) => ({ at: cron.createdAt, id: cron.id }));
      return { crons: await Promise.all(items.map(showCron)), next };
    },
    get: async (scope, id) => showCron(await find(scope, id)),
    async remove(scope, id) {
      if (!(await store.remove(scope, id))) throw notFound();
    },
    async ticks(scope, id, page) {
      const { cron } = await find(scope, id);
      const found = await store.ticks(scope, id, toStorePage(page));
      const { items, next } = cut(found, page, (tick) => ({ at: tick.claimedAt, id: tick.id }));
      return { ticks: await Promise.all(items.map((tick) => showTick(cron, tick))), next };
    },
    async preview({ schedule, timeZone, count }) {
      const now = await store.now();
      const times = parseSchedule({ schedule, timeZone, anchorAt: now });
      const found: number[] = [];
      for (let at = times.after(now); at !== undefined && found.length < count; at = times.after(at)) {
        found.push(at);
      }
      return found;
    },
    removeAll: (account, subject) => store.removeAll(account, subject),
    look: async () => runner?.now(),
    close: async () => runner?.close(),
  };
}

/** The definition with its agent's full id. Throws `invalid_input` naming the field. */
async function accept(agents: AgentCatalogPort, definition: CronDefinition): Promise<CronDefinition> {
  const graphName = parseGraphId(definition.agent);
  const agent = graphName === undefined ? undefined : await agents.getAgent(toGraphId(graphName));
  if (!agent) {
    const known = (await agents.listAgents()).map(({ graphId }) => graphId);
    throw invalid("agent", `is unknown. Available: ${known.join(", ")}`);
  }
  const { command, state } = definition.input;
  if (command && !agent.commands.includes(command.name)) {
    const known = agent.commands.length > 0 ? `It knows: ${agent.commands.join(", ")}` : "It knows none";
    throw invalid("input.command.name", `${agent.graphId} does not know "${command.name}". ${known}`);
  }
  if (state && Object.hasOwn(state, "command") && agent.commands.length > 0) {
    throw invalid("input.state.command", "a command is no state. Send it as input.command");
  }
  requireAcceptedConfig(agent, definition.config ?? undefined);
  return { ...definition, agent: agent.graphId };
}

function changed(cron: Cron, changes: CronChange, virtualKeyId: string, now: number): Cron {
  const before = cron.definition;
  const merged = { ...before, ...definedOnly(changes) };
  const definition = { ...merged, agent: toGraphId(parseGraphId(merged.agent) ?? merged.agent) };
  const after: Cron = { ...cron, virtualKeyId, definition, updatedAt: now };
  const isAnotherRhythm = definition.schedule !== before.schedule || definition.timeZone !== before.timeZone;
  if (isAnotherRhythm) return scheduled({ ...after, anchorAt: now }, now);
  // Times that fall into a pause are not missed.
  const isMoved = definition.enabled !== before.enabled || definition.jitterMs !== before.jitterMs;
  return isMoved ? scheduled(after, now) : after;
}

function scheduled(cron: Cron, now: number): Cron {
  const next = nextTime(cron, now);
  if (cron.definition.enabled && next.nextAt === undefined) throw invalid("schedule", "has no future runs");
  return { ...cron, ...next };
}

/** The changes without fields that have no value, which would overwrite what is there. */
function definedOnly(changes: CronChange): { [K in keyof CronDefinition]?: CronDefinition[K] } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

export function scopeOf({ billingAccountId: account, subject }: Caller): CronScope {
  return { account, ...(subject !== undefined && { subject }) };
}

/** The query of a page, with one item more, which shows whether there is a next page. */
function toStorePage({ limit, after }: PageRequest): { readonly limit: number; readonly after?: PageCursor } {
  return { limit: limit + 1, ...(after !== undefined && { after: decodePageCursor(after) }) };
}

function cut<T>(
  found: readonly T[],
  { limit }: PageRequest,
  positionOf: (item: T) => PageCursor,
): { readonly items: readonly T[]; readonly next: string | undefined } {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: found.length > limit && last ? encodePageCursor(positionOf(last)) : undefined };
}

/** The same as for any other run. */
const BUSY_RETRY_MS = 1_000;

function refusal({ reason, runId }: Extract<TickOutcome, { kind: "skipped" }>): ThroughlineError {
  const named = { ...(runId !== undefined && { runId }) };
  return reason === "busy"
    ? new ThroughlineError(reason, "Another run is active in this thread.", {
        details: { ...named, retryAfterMs: BUSY_RETRY_MS },
      })
    : new ThroughlineError(reason, "This thread waits for an answer.", { details: named });
}

function invalid(field: string, why: string): ThroughlineError {
  return new ThroughlineError("invalid_input", `${field}: ${why}`, { details: { field } });
}

function notFound(): ThroughlineError {
  return new ThroughlineError("not_found", "There is no such cron.");
}

/** A tick, and its run: `undefined` when there is none, or not any more. */
export interface TickWithRun extends CronTick {
  readonly runStatus: RegistryStatus | undefined;
}

export interface CronWithTick {
  readonly cron: Cron;
  readonly lastTick: TickWithRun | undefined;
}

interface PageRequest {
  readonly limit: number;
  readonly after?: string | undefined;
}

/** Everything there is to do with crons, of one account and subject at a time. `not_found` is thrown for those of others. */
export interface CronService {
  /** Throws `invalid_input` naming the field, `rate_limited` when the account has all it may. */
  create(caller: Caller, definition: CronDefinition): Promise<CronWithTick>;
  list(
    scope: CronScope,
    page: PageRequest,
  ): Promise<{ crons: readonly CronWithTick[]; next: string | undefined }>;
  get(scope: CronScope, id: string): Promise<CronWithTick>;
  change(caller: Caller, id: string, change: CronChange): Promise<CronWithTick>;
  remove(scope: CronScope, id: string): Promise<void>;
  /** Starts a tick now, paused or not. Throws the error that prevented the start. */
  runNow(scope: CronScope, id: string): Promise<TickWithRun>;
  /** Newest first. */
  ticks(
    scope: CronScope,
    id: string,
    page: PageRequest,
  ): Promise<{ ticks: readonly TickWithRun[]; next: string | undefined }>;
  /** The next times of a schedule, from now. */
  preview(schedule: {
    readonly schedule: string;
    readonly timeZone: string;
    readonly count: number;
  }): Promise<number[]>;
  /** For deletion: crons of an account, or of one subject of it, and their ticks. Gives how many crons there were. */
  removeAll(account: string, subject?: string): Promise<number>;
  /** Starts due ticks; resolves when they are delivered. */
  look(): Promise<void>;
  /** Claims nothing more; what was claimed is delivered. */
  close(): Promise<void>;
}
