import { randomBytes } from "node:crypto";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@throughline/embedded-postgres";
import { createMemoryDatabase, openPostgres } from "@throughline/thread-log";
import { vi } from "vitest";
import type { AgUiEvent } from "../events.js";
import { createRunner, type Runner, type RunnerOptions } from "../runner.js";
import type { RunnerStore } from "../stores.js";

/** Runners over one store: several instances of one service. */
export interface RunnerScene {
  /** Two instances that last as long as the scene. */
  readonly first: Runner;
  readonly second: Runner;
  instance(options?: RunnerOptions): Runner;
  close(): Promise<void>;
}

export const STORES = { memory: openMemoryScene, postgres: openPostgresScene };

async function openMemoryScene(): Promise<RunnerScene> {
  return sceneOf({ kind: "memory", database: createMemoryDatabase() }, async () => {});
}

/** A schema of its own on the server that all test files share. */
async function openPostgresScene(): Promise<RunnerScene> {
  const dataDir = join(tmpdir(), `throughline-tests-${userInfo().uid}`, "postgres-18");
  const server = await startEmbeddedPostgres({ dataDir });
  const schema = `runner_${randomBytes(6).toString("hex")}`;
  return sceneOf({ kind: "postgres", databaseUrl: server.url, schema }, async () => {
    const database = await openPostgres({ connection: server.url, schema });
    await database.pool.query(`drop schema ${schema} cascade`);
    await database.close();
    await server.stop();
  });
}

function sceneOf(store: RunnerStore, closeStore: () => Promise<void>): RunnerScene {
  const runners: Runner[] = [];
  function instance(options: RunnerOptions = {}): Runner {
    const runner = createRunner({ store, stopGraceMs: 200, onError: () => {}, ...options });
    runners.push(runner);
    return runner;
  }
  return {
    first: instance(),
    second: instance(),
    instance,
    async close() {
      await Promise.all(runners.map((runner) => runner.close()));
      await closeStore();
    },
  };
}

/** What a viewer has been told so far. */
export interface Viewer {
  readonly events: readonly AgUiEvent[];
  /** Resolves with everything told when the stream is over. */
  readonly over: Promise<readonly AgUiEvent[]>;
  leave(): void;
}

export function view(source: (signal: AbortSignal) => AsyncIterable<AgUiEvent>): Viewer {
  const events: AgUiEvent[] = [];
  const left = new AbortController();
  const over = (async () => {
    for await (const event of source(left.signal)) events.push(event);
    return events;
  })();
  return { events, over, leave: () => left.abort() };
}

/** Waits until a viewer was told so many events, or one of this type. */
export async function until({ events }: Viewer, told: number | string): Promise<void> {
  await vi.waitFor(
    () => {
      const isTold = typeof told === "number" ? events.length >= told : typesOf(events).includes(told);
      if (!isTold) throw new Error(`Told so far: ${typesOf(events).join(", ")}`);
    },
    { timeout: 20_000, interval: 10 },
  );
}

export function typesOf(events: readonly AgUiEvent[]): string[] {
  return events.map(({ type }) => type);
}
