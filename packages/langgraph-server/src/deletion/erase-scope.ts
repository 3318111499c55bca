import { type Clock, type GraphStatePort, parseGraphId, toGraphId } from "@throughline/ai-core";
import type { StoreItems } from "@throughline/graph-executor";
import type { RunRegistry, ThreadDirectory, ThreadLog, ThreadSummary } from "@throughline/thread-log";
import type { AttachmentStore } from "../attachments/attachment-store.js";
import type { CronStore } from "../crons/cron-store.js";
import { untilElapsed } from "../timing/until-elapsed.js";
import type { DeletionCounts, DeletionScope, ListedThread } from "./deletion.js";
import type { ClaimedDeletion, DeletionStore } from "./deletion-store.js";

/** Every place that holds something of a thread, a subject or an account. */
export interface DeletionPlaces {
  readonly log: Pick<ThreadLog, "threads" | "deleteThread" | "deleteAccount">;
  readonly registry: Pick<RunRegistry, "list" | "deleteThread" | "deleteAccount">;
  /** Checkpoints, here or upstream. */
  readonly state: Pick<GraphStatePort, "deleteThread">;
  readonly directory: Pick<ThreadDirectory, "deleteThread" | "deleteAccount">;
  readonly attachments: Pick<AttachmentStore, "deleteThread" | "deleteAccount">;
  readonly crons: Pick<CronStore, "removeAll">;
  /** `undefined` where graphs keep them on a server that does not tell accounts apart. */
  readonly storeItems: Pick<StoreItems, "deleteAccount"> | undefined;
}

export interface EraseDeps extends DeletionPlaces {
  readonly store: DeletionStore;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Throws when the work is to be left as it is. */
  readonly goOn: () => void;
}

const PER_LISTING = 500;
const AT_ONCE = 8;
const FIRST_LOOK_MS = 20;
const LATER_LOOKS_MS = 500;
/** A thread that was never told its graph has no checkpoint that another could not delete. */
const ANY_GRAPH = toGraphId("unknown");

/** Runs one claimed deletion through its phase. Every step may be done twice, and none is skipped after a crash. */
export async function eraseScope(deps: EraseDeps, claimed: ClaimedDeletion): Promise<void> {
  if (claimed.deletion.phase === "erasing") await erase(deps, claimed);
  else await sweep(deps, claimed);
}

async function erase(deps: EraseDeps, claimed: ClaimedDeletion): Promise<void> {
  const { store, leaseMs } = deps;
  const { scope } = claimed;
  const isOfThread = scope.threadId !== undefined;
  // Before the tombstones: what is deleted is not listed any more.
  if (!claimed.isListed) await listThreads(deps, claimed);
  if (!isOfThread)
    await tell(deps, claimed, { crons: await deps.crons.removeAll(scope.account, scope.subject) });
  await bury(deps, scope);
  await untilNobodyWrites(deps, scope);
  // A run that was claimed from the queue in between may have opened its thread anew.
  await bury(deps, scope);
  for (
    let page = await store.remaining(claimed, AT_ONCE);
    page.length > 0;
    page = await store.remaining(claimed, AT_ONCE)
  ) {
    await hold(deps, claimed);
    const files = await Promise.all(page.map((listed) => eraseThread(deps, listed)));
    await tell(deps, claimed, {
      threads: page.length,
      attachments: files.reduce((sum, count) => sum + count, 0),
    });
    await stillOurs(store.checkOff(claimed, page));
  }
  if (!isOfThread) await eraseRest(deps, claimed);
  await stillOurs(store.move(claimed, "erased", leaseMs));
}

/** Once more, for what was written by somebody who had been given up. What has begun anew is let be. */
async function sweep(deps: EraseDeps, claimed: ClaimedDeletion): Promise<void> {
  const { store, registry, log } = deps;
  const { scope, deletion } = claimed;
  if (deletion.phase === "erased") await stillOurs(store.move(claimed, "sweeping", deps.leaseMs));
  for (
    let page = await store.remaining(claimed, AT_ONCE);
    page.length > 0;
    page = await store.remaining(claimed, AT_ONCE)
  ) {
    await hold(deps, claimed);
    await Promise.all(
      page.map(async ({ thread, graphId }) => {
        if ((await registry.list(thread, 1)).length > 0) return;
        await log.deleteThread(thread);
        await registry.deleteThread(thread);
        await deps.state.deleteThread({ graphId, threadId: thread.threadId });
        await deps.directory.deleteThread(thread);
      }),
    );
    await stillOurs(store.checkOff(claimed, page));
  }
  const isUnused = scope.threadId === undefined && (await living(deps, scope, 1)).threads.length === 0;
  if (isUnused) await deps.storeItems?.deleteAccount(scope.account, scope.subject);
  await stillOurs(store.move(claimed, "done", 0));
}

async function listThreads(deps: EraseDeps, claimed: ClaimedDeletion): Promise<void> {
  let after: string | undefined;
  do {
    await hold(deps, claimed);
    const { threads, next } = await living(deps, claimed.scope, PER_LISTING, after);
    await stillOurs(deps.store.list(claimed, threads.map(toListed), next === undefined));
    after = next;
  } while (after !== undefined);
}

function living({ log }: EraseDeps, { account, subject }: DeletionScope, limit: number, after?: string) {
  const scope =
    subject === undefined ? { account, everySubject: true } : { account, ...(subject !== "" && { subject }) };
  return log.threads(scope, { limit, after });
}

function toListed({ thread, stateKey }: ThreadSummary): ListedThread {
  const graphName = parseGraphId(stateKey.slice(0, stateKey.indexOf("/")));
  return { thread, graphId: graphName === undefined ? ANY_GRAPH : toGraphId(graphName) };
}

/** A tombstone refuses late writers and tells watchers; what a driver still holds in its hands ends with its run. */
async function bury({ log }: EraseDeps, { account, subject, threadId }: DeletionScope): Promise<void> {
  if (threadId === undefined) await log.deleteAccount(account, subject);
  else await log.deleteThread({ account, ...(subject && { subject }), threadId });
}

/** Each look asks what still runs to stop, and forgets what has ended and what was not heard of within its lease. */
async function untilNobodyWrites(
  deps: EraseDeps,
  { account, subject, threadId }: DeletionScope,
): Promise<void> {
  const { registry, clock, goOn } = deps;
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(2 * wait, LATER_LOOKS_MS)) {
    goOn();
    const running =
      threadId === undefined
        ? (await registry.deleteAccount(account, subject)).length > 0
        : (await registry.deleteThread({ account, ...(subject && { subject }), threadId })) !== undefined;
    if (!running) return;
    await untilElapsed(clock, wait);
  }
}

async function eraseThread(deps: EraseDeps, { thread, graphId }: ListedThread): Promise<number> {
  await deps.state.deleteThread({ graphId, threadId: thread.threadId });
  await deps.directory.deleteThread(thread);
  return deps.attachments.deleteThread(thread);
}

/** What belongs to no thread, or to one that nobody ever ran. */
async function eraseRest(deps: EraseDeps, claimed: ClaimedDeletion): Promise<void> {
  const { account, subject } = claimed.scope;
  await hold(deps, claimed);
  await deps.directory.deleteAccount(account, subject);
  const attachments = await deps.attachments.deleteAccount(account, subject);
  const storeItems = (await deps.storeItems?.deleteAccount(account, subject)) ?? 0;
  await tell(deps, claimed, { attachments, storeItems });
}

async function tell(
  { store }: EraseDeps,
  claimed: ClaimedDeletion,
  counts: Partial<DeletionCounts>,
): Promise<void> {
  await stillOurs(store.count(claimed, counts));
}

/** Before every step that deletes: whoever lost its claim may meet what has begun anew since. */
async function hold({ store, goOn, leaseMs }: EraseDeps, claimed: ClaimedDeletion): Promise<void> {
  goOn();
  await stillOurs(store.renew(claimed, leaseMs));
}

/** Somebody else goes on with the deletion. */
export class ClaimLost extends Error {}

async function stillOurs(isHeld: Promise<boolean>): Promise<void> {
  if (!(await isHeld)) throw new ClaimLost("Another instance goes on with this deletion.");
}
