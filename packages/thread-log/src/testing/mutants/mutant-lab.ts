import fc from "fast-check";
import pg from "pg";
import { type LogStoreFixture, withScene } from "../../conformance/log-scene.js";
import { storeModel } from "../../conformance/model/run-store-model.js";
import { neighbourCases } from "../../conformance/neighbour-cases.js";
import { type RegistryFixture, withRegistryScene } from "../../conformance/registry-scene.js";
import { LOG_CASES } from "../../conformance/run-log-conformance.js";
import { REGISTRY_CASES } from "../../conformance/run-registry-conformance.js";
import type { LogStore } from "../../log/log-store.js";
import { within } from "../../postgres/connection/pool.js";
import { openPostgresFixture } from "../postgres-fixture.js";
import { CLEAR, openPostgresModelSubject, WITHOUT_WAITING } from "../postgres-model-subject.js";
import { openPostgresRegistryFixture } from "../postgres-registry-fixture.js";
import { openTestDatabase, type TestDatabase } from "../test-database.js";
import { openTwinDatabase } from "../twin-database.js";
import { mutateSql, type SqlMutant } from "./mutate-sql.js";
import { hookStatements, type SeenStatement } from "./statement-hook.js";

export type Verdict =
  /** A test fails with it. */
  | "killed"
  | "survived"
  /** No test sends it. */
  | "not run"
  /** PostgreSQL does not take it. */
  | "invalid";

export interface Trial {
  readonly statement: string;
  readonly change: string;
  readonly verdict: Verdict;
  /** The test that failed. */
  readonly by: string | undefined;
  readonly original: string;
  readonly text: string;
}

export interface LabOptions {
  /** Which cases of conformance are run. Default: all. */
  readonly wants?: (name: string) => boolean;
  /** Of the model, for each mutant that they leave. Default: none. */
  readonly modelCases?: number;
  /** Statements that other tests send. */
  readonly recorded?: readonly SeenStatement[];
}

export interface MutatedStatement extends SeenStatement {
  readonly mutants: readonly SqlMutant[];
}

export interface MutantLab {
  readonly statements: readonly MutatedStatement[];
  try(statement: SeenStatement, mutant: SqlMutant): Promise<Trial>;
  close(): Promise<void>;
}

interface LabCase {
  readonly name: string;
  run(): Promise<void>;
  ms: number;
  kills: number;
  sent: ReadonlySet<string>;
}

/** So many times what it took without a mutant, and a case counts as failed: it will never end. */
const PATIENCE = 20;
const LEAST_PATIENCE_MS = 5_000;
const MODEL_SEED = 1;
const MIGRATION = /^\s*(create|alter|drop)\b/i;
const FUNCTION = /^\s*create function/i;

/**
 * Runs conformance and model in this process against mutated statements: first the cases that send the statement, the quickest
 * and deadliest before the others, then the model. Opening it runs every case once, to see what each of them sends.
 */
export async function openMutantLab({
  wants = () => true,
  modelCases = 0,
  recorded = [],
}: LabOptions = {}): Promise<MutantLab> {
  const hook = hookStatements();
  let fixtures = await openFixtures();
  const cases: readonly LabCase[] = [
    ...LOG_CASES.map(({ name, run }) => labCase(name, () => withScene(fixtures.log, run))),
    ...REGISTRY_CASES.map(({ name, run }) => labCase(name, () => withRegistryScene(fixtures.registry, run))),
    ...neighbourCases.map(({ name, run }) =>
      labCase(`${name}, by the key alone`, () => withRegistryScene(fixtures.twins, run)),
    ),
  ].filter(({ name }) => wants(name));
  let subject = await openPostgresModelSubject();
  hook.takeSent();
  for (const each of cases) {
    const started = performance.now();
    await each.run();
    each.ms = performance.now() - started;
    each.sent = hook.takeSent();
  }
  const modelStarted = performance.now();
  await runModel();
  const modelMs = performance.now() - modelStarted;
  const modelSent = hook.takeSent();

  async function runModel(): Promise<void> {
    if (modelCases === 0) return;
    await fc.assert(storeModel(subject), { seed: MODEL_SEED, numRuns: modelCases, endOnFailure: true });
  }

  /** `ms`: what it took without a mutant. */
  async function fails(work: () => Promise<void>, ms: number): Promise<boolean> {
    const working = work();
    const isDone = await within(LEAST_PATIENCE_MS + PATIENCE * ms, working);
    if (!isDone) {
      working.catch(() => {});
      return true;
    }
    return working.then(
      () => false,
      () => true,
    );
  }

  async function clear(): Promise<void> {
    for (const client of fixtures.clients) await client.query(CLEAR);
  }

  async function setFunction(text: string): Promise<void> {
    const asReplacement = text.replace(FUNCTION, "create or replace function");
    for (const client of [...fixtures.clients, subject.observer]) await client.query(asReplacement);
  }

  /** As the server sees it: what it can't even parse says nothing about the tests. */
  async function isValid(text: string): Promise<boolean> {
    const { observer } = subject;
    if (FUNCTION.test(text)) return true;
    try {
      await observer.query(`prepare mutant as ${text}`);
      await observer.query("deallocate mutant");
      return true;
    } catch {
      return false;
    }
  }

  async function reopenFixtures(): Promise<void> {
    const broken = fixtures;
    fixtures = await openFixtures();
    void broken.close().catch(() => {});
  }

  async function reopenSubject(): Promise<void> {
    const broken = subject;
    subject = await openPostgresModelSubject();
    void broken.close().catch(() => {});
  }

  async function tryMutant(statement: SeenStatement, mutant: SqlMutant): Promise<Trial> {
    const { name, text } = statement;
    const isFunction = FUNCTION.test(text);
    let isRun = isFunction;
    const trial = (verdict: Verdict, by?: string): Trial => ({
      statement: name,
      change: mutant.change,
      verdict,
      by,
      original: text,
      text: mutant.text,
    });

    async function place(): Promise<void> {
      hook.replace({ original: text, text: mutant.text });
      if (isFunction) await setFunction(mutant.text);
    }

    async function takeOut(): Promise<void> {
      isRun ||= hook.replaced() > 0;
      hook.replace(undefined);
      if (isFunction) await setFunction(text);
      await clear();
    }

    /**
     * Twice of three times: on a busy machine a test may fail by itself, or pass because it came too late. `mend` is called after
     * each failure, without the mutant.
     */
    async function failsTwice(work: () => Promise<void>, ms: number, mend: () => Promise<void>) {
      let failures = 0;
      for (const _ of ["first", "second", "third"]) {
        if (await fails(work, ms)) {
          failures += 1;
          await takeOut();
          await mend();
          await place();
        }
        if (failures !== 1) break;
      }
      return failures === 2;
    }

    /** The name of what failed. */
    async function killer(): Promise<string | undefined> {
      const calls = isFunction ? name.replace("function ", "") : undefined;
      const relevant = cases
        .filter(({ sent }) =>
          calls === undefined ? sent.has(text) : [...sent].some((each) => each.includes(calls)),
        )
        .sort((a, b) => b.kills / b.ms - a.kills / a.ms || a.ms - b.ms);
      for (const each of relevant) {
        // What the mutant did may last in the instances, or the machine be too busy for the case: whatever comes next would
        // seem to be noticed.
        const mend = async () => {
          while (await fails(each.run, each.ms)) await reopenFixtures();
        };
        if (!(await failsTwice(each.run, each.ms, mend))) continue;
        each.kills += 1;
        return each.name;
      }
      if (modelCases === 0 || (!isFunction && !modelSent.has(text))) return undefined;
      return (await failsTwice(runModel, modelMs, reopenSubject)) ? "the model" : undefined;
    }

    if (!(await isValid(mutant.text))) return trial("invalid");
    await place();
    const by = await killer();
    await takeOut();
    if (by !== undefined) return trial("killed", by);
    return trial(isRun ? "survived" : "not run");
  }

  const statements = new Map([...recorded, ...hook.seen.values()].map((each) => [each.text, each]));
  return {
    statements: [...statements.values()]
      .filter(({ text }) => FUNCTION.test(text) || !MIGRATION.test(text))
      .map((statement) => ({ ...statement, mutants: mutateSql(statement.text) }))
      .filter(({ mutants }) => mutants.length > 0)
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    try: tryMutant,
    async close() {
      await Promise.all([subject.close(), fixtures.close()]);
    },
  };
}

interface Fixtures {
  readonly log: LogStoreFixture;
  readonly registry: RegistryFixture;
  /** On a database where the key alone keeps threads apart. */
  readonly twins: RegistryFixture;
  /** Connections of the lab's own to their databases. */
  readonly clients: readonly pg.Client[];
  close(): Promise<void>;
}

async function openFixtures(): Promise<Fixtures> {
  const log = await openPostgresFixture();
  const urls = [log.url];
  const registryOn = (open: () => Promise<TestDatabase>) =>
    openPostgresRegistryFixture({
      async openDatabase() {
        const database = await open();
        urls.push(database.url);
        return database;
      },
    });
  const registry = await registryOn(openTestDatabase);
  const twins = await registryOn(openTwinDatabase);
  const clients = await Promise.all(
    urls.map(async (connectionString) => {
      const client = new pg.Client({ connectionString });
      await client.connect();
      await client.query(WITHOUT_WAITING);
      return client;
    }),
  );
  const reused = reusingStores(log);
  // Makes the tables.
  await withScene(reused, async () => {});
  for (const each of [registry, twins]) await withRegistryScene(each, async () => {});
  return {
    log: reused,
    registry,
    twins,
    clients,
    async close() {
      await Promise.all(clients.map((client) => client.end()));
      await Promise.all([log.close(), registry.close(), twins.close()]);
    },
  };
}

/** Gives a store that a case is done with to the next one: opening one costs more than most cases. */
function reusingStores(fixture: LogStoreFixture): LogStoreFixture {
  const idle: LogStore[] = [];
  return {
    ...fixture,
    openStore: async () => idle.pop() ?? fixture.openStore(),
    closeStore: async (store) => void idle.push(store),
  };
}

function labCase(name: string, run: () => Promise<void>): LabCase {
  return { name, run, ms: 0, kills: 0, sent: new Set() };
}
