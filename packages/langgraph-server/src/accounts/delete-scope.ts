import { type Clock, type GraphStatePort, parseGraphId, toGraphId } from "@throughline/ai-core";
import type { StoreItems } from "@throughline/graph-executor";
import type { RunRegistry, ThreadDirectory, ThreadLog, ThreadSummary } from "@throughline/thread-log";
import type { AttachmentStore } from "../attachments/attachment-store.js";
import { untilElapsed } from "../operations/poller.js";
import type { FeedbackStore } from "../threads/feedback-store.js";
import type { MessageIndex } from "../threads/message-index.js";
import type { AuditLog } from "./audit-log.js";
import type { BillingStores } from "./billing.js";
import type {
  ClaimedDeletion,
  DeletionCounts,
  DeletionScope,
  DeletionStore,
  ListedThread,
} from "./deletion.js";

/** All stores with data of a thread, a subject or an account. */
export interface DeletionStores {
  readonly log: Pick<ThreadLog, "threads" | "deleteThread" | "deleteAccount">;
  readonly registry: Pick<RunRegistry, "list" | "deleteThread" | "deleteAccount">;
  /** Checkpoints, here or upstream. */
  readonly state: Pick<GraphStatePort, "deleteThread">;
  readonly directory: Pick<ThreadDirectory, "deleteThread" | "deleteAccount">;
  readonly attachments: Pick<AttachmentStore, "deleteThread" | "deleteAccount">;
  readonly feedback: Pick<FeedbackStore, "deleteThread" | "deleteAccount">;
  readonly messages: Pick<MessageIndex, "deleteThread" | "deleteAccount">;
  /** Crons lie above accounts, so this names the one thing that is needed of them. */
  readonly crons: { removeAll(account: string, subject?: string): Promise<number> };
  /** `undefined` where graphs store them on a server that does not separate accounts. */
  readonly storeItems: Pick<StoreItems, "deleteAccount"> | undefined;
  /** Receipts stay, without what names a person or a thread; keys and budgets go. */
  readonly billing: BillingStores;
  /** A setting decides how much of it is retained after a deletion. */
  readonly audit: Pick<AuditLog, "deleteScope">;
}

export interface DeleteDeps extends DeletionStores {
  readonly store: DeletionStore;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Throws when the work is to be left as it is. */
  readonly goOn: () => void;
}

const PER_LISTING = 500;
const AT_ONCE = 8;
const FIRST_POLL_MS = 20;
const LATER_POLLS_MS = 500;
/** The graph id of threads whose graph is unknown: checkpoints they may have can be deleted under any graph's id. */
const UNKNOWN_GRAPH = toGraphId("unknown");

/** Runs one claimed deletion through its phase. Every step may be done twice, and none is skipped after a crash. */
export async function deleteScope(deps: DeleteDeps, claimed: ClaimedDeletion): Promise<void> {
  if (claimed.deletion.phase === "deleting") await deleteAll(deps, claimed);
  else await sweep(deps, claimed);
}

async function deleteAll(deps: DeleteDeps, claimed: ClaimedDeletion): Promise<void> {
  const { store, leaseMs } = deps;
  const { scope } = claimed;
  const isOfThread = scope.threadId !== undefined;
  // Before the tombstones: what is deleted is not listed any more.
  if (!claimed.isListed) await listThreads(deps, claimed);
  if (!isOfThread)
    await addProgress(deps, claimed, { crons: await deps.crons.removeAll(scope.account, scope.subject) });
  await deleteLogs(deps, scope);
  await drainWriters(deps, scope);
  // A run that was claimed from the queue in between may have reopened its thread.
  await deleteLogs(deps, scope);
  for (
    let page = await store.remaining(claimed, AT_ONCE);
    page.length > 0;
    page = await store.remaining(claimed, AT_ONCE)
  ) {
    await hold(deps, claimed);
    const files = await Promise.all(page.map((listed) => deleteThread(deps, listed)));
    await addProgress(deps, claimed, {
      threads: page.length,
      attachments: files.reduce((sum, count) => sum + count, 0),
    });
    await stillOurs(store.checkOff(claimed, page));
  }
  if (!isOfThread) await deleteRest(deps, claimed);
  await deps.billing.ledger.redact(scope);
  await deps.audit.deleteScope(scope, claimed.deletion.requestedAt);
  await stillOurs(store.move(claimed, "deleted", leaseMs));
}

/** Deletes once more, for the last writes of abandoned drivers. Anything created since stays. */
async function sweep(deps: DeleteDeps, claimed: ClaimedDeletion): Promise<void> {
  const { store, registry, log } = deps;
  const { scope, deletion } = claimed;
  if (deletion.phase === "deleted") await stillOurs(store.move(claimed, "sweeping", deps.leaseMs));
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
        await deps.feedback.deleteThread(thread);
        await deps.messages.deleteThread(thread);
      }),
    );
    await stillOurs(store.checkOff(claimed, page));
  }
  const isUnused = scope.threadId === undefined && (await living(deps, scope, 1)).threads.length === 0;
  if (isUnused) await deps.storeItems?.deleteAccount(scope.account, scope.subject);
  // Later calls belong to data created since then.
  await deps.billing.ledger.redact({ ...scope, openedBefore: deletion.deletedAt ?? deletion.requestedAt });
  await deps.audit.deleteScope(scope, deletion.requestedAt);
  await stillOurs(store.move(claimed, "done", 0));
}

async function listThreads(deps: DeleteDeps, claimed: ClaimedDeletion): Promise<void> {
  let after: string | undefined;
  do {
    await hold(deps, claimed);
    const { threads, next } = await living(deps, claimed.scope, PER_LISTING, after);
    await stillOurs(deps.store.list(claimed, threads.map(toListed), next === undefined));
    after = next;
  } while (after !== undefined);
}

function living({ log }: DeleteDeps, { account, subject }: DeletionScope, limit: number, after?: string) {
  const scope =
    subject === undefined ? { account, everySubject: true } : { account, ...(subject !== "" && { subject }) };
  return log.threads(scope, { limit, after });
}

function toListed({ thread, stateKey }: ThreadSummary): ListedThread {
  const graphName = parseGraphId(stateKey.slice(0, stateKey.indexOf("/")));
  return { thread, graphId: graphName === undefined ? UNKNOWN_GRAPH : toGraphId(graphName) };
}

/** Leaves tombstones, which refuse late writers and notify subscribers. */
async function deleteLogs({ log }: DeleteDeps, { account, subject, threadId }: DeletionScope): Promise<void> {
  if (threadId === undefined) await log.deleteAccount(account, subject);
  else await log.deleteThread({ account, ...(subject && { subject }), threadId });
}

/** Waits until no run writes. Each poll stops open runs, and deletes those that ended or whose lease is over. */
async function drainWriters(deps: DeleteDeps, { account, subject, threadId }: DeletionScope): Promise<void> {
  const { registry, clock, goOn } = deps;
  for (let wait = FIRST_POLL_MS; ; wait = Math.min(2 * wait, LATER_POLLS_MS)) {
    goOn();
    const running =
      threadId === undefined
        ? (await registry.deleteAccount(account, subject)).length > 0
        : (await registry.deleteThread({ account, ...(subject && { subject }), threadId })) !== undefined;
    if (!running) return;
    await untilElapsed(clock, wait);
  }
}

async function deleteThread(deps: DeleteDeps, { thread, graphId }: ListedThread): Promise<number> {
  await deps.state.deleteThread({ graphId, threadId: thread.threadId });
  await deps.directory.deleteThread(thread);
  // Behind the listing, which what is put waits for.
  await deps.feedback.deleteThread(thread);
  await deps.messages.deleteThread(thread);
  return deps.attachments.deleteThread(thread);
}

/** Deletes data of no thread, or of threads without a run. */
async function deleteRest(deps: DeleteDeps, claimed: ClaimedDeletion): Promise<void> {
  const { account, subject } = claimed.scope;
  await hold(deps, claimed);
  await deps.directory.deleteAccount(account, subject);
  await deps.feedback.deleteAccount(account, subject);
  await deps.messages.deleteAccount(account, subject);
  const attachments = await deps.attachments.deleteAccount(account, subject);
  const storeItems = (await deps.storeItems?.deleteAccount(account, subject)) ?? 0;
  await deps.billing.budgets.delete(account, subject);
  if (subject === undefined) await deps.billing.virtualKeys.delete(account);
  await addProgress(deps, claimed, { attachments, storeItems });
}

async function addProgress(
  { store }: DeleteDeps,
  claimed: ClaimedDeletion,
  counts: Partial<DeletionCounts>,
): Promise<void> {
  await stillOurs(store.count(claimed, counts));
}

/** Renews the claim before every deleting step: after a lost claim a step might delete data created since. */
async function hold({ store, goOn, leaseMs }: DeleteDeps, claimed: ClaimedDeletion): Promise<void> {
  goOn();
  await stillOurs(store.renew(claimed, leaseMs));
}

/** Another instance holds the deletion now. */
export class ClaimLost extends Error {}

async function stillOurs(isHeld: Promise<boolean>): Promise<void> {
  if (!(await isHeld)) throw new ClaimLost("Another instance goes on with this deletion.");
}
