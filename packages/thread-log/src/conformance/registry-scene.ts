import { randomUUID } from "node:crypto";
import type { GraphRunStart } from "@throughline/ai-core";
import { createThreadLog } from "../log/create-thread-log.js";
import type { LogStore } from "../log/log-store.js";
import type { ThreadLog } from "../log/thread-log.js";
import type { LeaseKeeper } from "../registry/leases.js";
import type { LeasedRun, RunRegistry, StartResult, StartRun } from "../registry/run-registry.js";
import type { ThreadDirectory } from "../thread-directory.js";
import type { DeletedScope, ThreadRef } from "../thread-ref.js";

import { newThread } from "./log-scene.js";

export interface RegistryInstance {
  readonly registry: RunRegistry;
  /** The log over the same database. */
  readonly store: LogStore;
  readonly directory: ThreadDirectory;
}

export interface RegistryFixture {
  openInstance(): Promise<RegistryInstance>;
  openKeeper(instance: RegistryInstance, options: { leaseMs: number; everyMs: number }): Promise<LeaseKeeper>;
  closeScope(id: string, scope: DeletedScope): Promise<void>;
  openScope(id: string): Promise<void>;
  /** How many tombstones of stops there are. */
  stops(): Promise<number>;
  /** Lets the store's own clock pass that much time. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface RegistryScene {
  readonly fixture: RegistryFixture;
  readonly instance: RegistryInstance;
  readonly registry: RunRegistry;
  readonly another: RunRegistry;
  readonly log: ThreadLog;
  /** On the instance of `another`. */
  readonly anotherLog: ThreadLog;
  readonly directory: ThreadDirectory;
  readonly thread: ThreadRef;
  request(wanted?: Partial<StartRun>): StartRun;
}

export interface RegistryCase {
  readonly name: string;
  run(scene: RegistryScene): Promise<void>;
}

const instances = new WeakMap<RegistryFixture, Promise<[RegistryInstance, RegistryInstance]>>();

/** Instances are shared by all cases; threads are not. */
export async function withRegistryScene(fixture: RegistryFixture, run: RegistryCase["run"]): Promise<void> {
  const opening =
    instances.get(fixture) ?? Promise.all([fixture.openInstance(), fixture.openInstance()] as const);
  instances.set(fixture, opening);
  const [instance, other] = await opening;
  const thread = newThread();
  const request = (wanted: Partial<StartRun> = {}): StartRun => ({
    thread,
    stateKey: "chat/main",
    runId: randomUUID(),
    graphId: "langgraph:chat",
    origin: { kind: "client" },
    start: hello,
    request: { model: "m", odd: "\u0000\ud800" },
    strategy: "reject",
    owner: "here",
    leaseMs: 60_000,
    listing: { threadName: "main", derivedTitle: "hello \u0000" },
    ...wanted,
  });
  const { registry, directory, store } = instance;
  const log = createThreadLog({ store });
  const anotherLog = createThreadLog({ store: other.store });
  const another = other.registry;
  try {
    await run({ fixture, instance, registry, another, log, anotherLog, directory, thread, request });
  } finally {
    await Promise.all([log.close(), anotherLog.close()]);
  }
}

export const hello: GraphRunStart = {
  kind: "input",
  messages: [{ id: "m1", role: "user", content: "hello \u0000" }],
};

export function resume(answers: Extract<GraphRunStart, { kind: "resume" }>["answers"]): GraphRunStart {
  return { kind: "resume", answers };
}

export function leased(result: StartResult): LeasedRun {
  if (result.kind !== "started") throw new Error(`expected a started run, got ${result.kind}`);
  return result;
}
