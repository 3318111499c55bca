import { toStoreFailure } from "@throughline/ai-core";
import type fc from "fast-check";
import pg from "pg";
import { isConnectionInDoubt } from "../../postgres/connection/pool.js";

/** What happens to one statement of a task instead of being answered. */
export interface Loss {
  /** Which of the task's statements, from 0. */
  readonly statement: number;
  /** The server executes it, and its answer is lost; or it never arrives. */
  readonly executed: boolean;
}

export interface GatedTask {
  readonly loss: Loss | undefined;
  /** Works over the pools that it asks for here: their statements are this task's. */
  work(over: (pool: pg.Pool) => pg.Pool): Promise<unknown>;
}

export interface StatementGate {
  /** Runs the tasks at once. The scheduler decides which statement is sent next. */
  run(scheduler: fc.Scheduler, tasks: readonly GatedTask[]): Promise<void>;
}

interface Turn {
  readonly task: number;
  readonly label: string;
  readonly release: () => void;
}

const STUCK_MS = 10_000;
/** More statements than any round needs: a task sends the same one for ever. */
const MAX_STEPS = 500;
/** In which a statement is usually answered, before its locks are asked for. */
const SOON_MS = 3;

/**
 * Sends one statement at a time. A statement that waits for a lock is set aside, and the next is sent: so every interleaving
 * that locks allow can be drawn. `observer` is a connection of its own, which asks the server who waits.
 */
export function createStatementGate(observer: pg.Client, pools: readonly pg.Pool[]): StatementGate {
  return { run: (scheduler, tasks) => runTasks(observer, pools, scheduler, tasks) };
}

async function runTasks(
  observer: pg.Client,
  pools: readonly pg.Pool[],
  scheduler: fc.Scheduler,
  tasks: readonly GatedTask[],
): Promise<void> {
  const arrived: Turn[] = [];
  const inFlight = new Map<pg.PoolClient, number>();
  const unsettled = new Set<number>();
  let waitingForTurn = 0;
  let failure: Error | undefined;
  let tell = () => {};

  /** Something was answered, arrived or ended; or a moment has passed, because a pool does not say when it gives a connection. */
  function change(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, SOON_MS);
      tell = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function turn(task: number, label: string): Promise<void> {
    waitingForTurn += 1;
    return new Promise<void>((resolve) => {
      arrived.push({ task, label, release: resolve });
      tell();
    }).then(() => {
      waitingForTurn -= 1;
      if (failure) throw failure;
    });
  }

  /** Each task has a statement under way, one that waits for its turn, or waits for a connection. */
  async function allArrived(): Promise<void> {
    const giveUp = Date.now() + STUCK_MS;
    const outstanding = () =>
      waitingForTurn + inFlight.size + pools.reduce((sum, pool) => sum + pool.waitingCount, 0);
    while (outstanding() < unsettled.size) {
      if (Date.now() > giveUp) throw new Error("A task neither ended nor sent a statement.");
      await change();
    }
  }

  /** Every statement under way is answered or waits for a lock. */
  async function atRest(): Promise<void> {
    const giveUp = Date.now() + STUCK_MS;
    for (;;) {
      await allArrived();
      if (inFlight.size > 0) await change();
      await allArrived();
      const pids = [...inFlight.values()];
      if (pids.length === 0) return;
      // Not `pg_stat_activity`: there a statement seems to wait for a moment after its lock was granted.
      const { rows } = await observer.query<{ pid: number }>(
        "select distinct pid from pg_locks where not granted and pid = any($1::int[])",
        [pids],
      );
      const same = pids.length === inFlight.size;
      // Without another turn to give, only the server's own search for deadlocks goes on.
      if (same && rows.length === pids.length && waitingForTurn > 0) return;
      if (Date.now() > giveUp)
        throw new Error("A statement was neither answered nor does it wait for a lock.");
    }
  }

  const running = tasks.map(async ({ work, loss }, task) => {
    unsettled.add(task);
    let sent = 0;
    const send = async (client: pg.PoolClient, args: readonly unknown[], transaction: { open: boolean }) => {
      const label = labelOf(args[0]);
      await turn(task, label);
      const isLost = loss !== undefined && loss.statement === sent++;
      if (isLost && !loss.executed) throw await breakOff(client, transaction);
      inFlight.set(client, processIdOf(client));
      try {
        const result: unknown = await Reflect.apply(client.query, client, args);
        if (/^begin/i.test(label)) transaction.open = true;
        if (/^(commit|rollback)/i.test(label)) transaction.open = false;
        if (!isLost) return result;
      } finally {
        inFlight.delete(client);
        tell();
      }
      throw await breakOff(client, transaction);
    };
    try {
      await work((pool) => gatedPool(pool, send));
    } finally {
      unsettled.delete(task);
      tell();
    }
  });
  const done = Promise.allSettled(running);

  async function conduct(): Promise<void> {
    for (let steps = 0; unsettled.size > 0; steps++) {
      await atRest();
      // In the order of the tasks, whichever came first: the same choices lead to the same interleaving.
      for (const { task, label, release } of arrived.splice(0).sort((a, b) => a.task - b.task)) {
        void scheduler.schedule(Promise.resolve(), `task ${task}: ${label}`).then(release);
      }
      if (scheduler.count() > 0) await scheduler.waitOne();
      if (steps === MAX_STEPS) throw new Error("A task does not come to an end.");
      await new Promise(setImmediate);
    }
  }

  await conduct().catch((error: unknown) => {
    failure = error instanceof Error ? error : new Error(String(error));
  });
  // Lets go of the tasks that are left, so that they give their connections back.
  for (const { release } of arrived) release();
  if (failure) {
    while (scheduler.count() > 0) await scheduler.waitOne();
    throw failure;
  }
  for (const settled of await done) if (settled.status === "rejected") throw settled.reason;
}

type Send = (
  client: pg.PoolClient,
  args: readonly unknown[],
  transaction: { open: boolean },
) => Promise<unknown>;

/** The pool as a task sees it. */
function gatedPool(pool: pg.Pool, send: Send): pg.Pool {
  async function query(...args: readonly unknown[]): Promise<unknown> {
    const client = await pool.connect();
    let failure: Error | undefined;
    // As the pool's own `query` does: without a listener an error between two statements would end the process.
    const ignore = () => {};
    client.on("error", ignore);
    try {
      return await send(client, args, { open: false });
    } catch (error) {
      if (isConnectionInDoubt(error) && error instanceof Error) failure = error;
      throw toStoreFailure(error);
    } finally {
      if (failure === undefined) client.off("error", ignore);
      client.release(failure);
    }
  }
  async function connect(): Promise<pg.PoolClient> {
    const client = await pool.connect();
    const transaction = { open: false };
    return replaced(client, "query", (...args: readonly unknown[]) => send(client, args, transaction));
  }
  return replaced(replaced(pool, "query", query), "connect", connect);
}

function replaced<T extends object>(target: T, name: string, by: unknown): T {
  return new Proxy(target, {
    get(_, asked) {
      if (asked === name) return by;
      const member: unknown = Reflect.get(target, asked);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** The connection breaks: the server ends its transaction. Ended here first, so that nothing goes on behind the test's back. */
async function breakOff(client: pg.PoolClient, transaction: { open: boolean }): Promise<Error> {
  if (transaction.open) await client.query("rollback").catch(() => {});
  transaction.open = false;
  return new Error("Connection terminated unexpectedly");
}

function processIdOf(client: pg.PoolClient): number {
  const found: unknown = Reflect.get(client, "processID");
  if (typeof found !== "number") throw new Error("the connection has no process id");
  return found;
}

function labelOf(asked: unknown): string {
  const text =
    typeof asked === "string"
      ? asked
      : typeof asked === "object" && asked !== null && "text" in asked
        ? String(asked.text)
        : "";
  return text.trim().replace(/\s+/g, " ").slice(0, 60);
}

/** The database of an instance, whose statements are those of one task. */
export function overPools<T extends object>(database: T, over: (pool: pg.Pool) => pg.Pool): T {
  const pools = Object.entries(database).filter(([, value]) => value instanceof pg.Pool);
  return { ...database, ...Object.fromEntries(pools.map(([name, pool]) => [name, over(pool)])) };
}

export function poolsOf(database: object): pg.Pool[] {
  return Object.values(database).filter((value): value is pg.Pool => value instanceof pg.Pool);
}
