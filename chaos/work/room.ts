import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { withoutId } from "../../e2e/server/stock/message-lines.js";
import { markOf, marksIn } from "../check/check-history.js";
import type { History, PageHistory, ThreadHistory } from "../check/history.js";
import { threadLabel } from "../check/history.js";
import type { RoomPlan } from "../plan/work-plan.js";
import type { Requests } from "./chaos-http.js";
import type { Person } from "./person.js";
import { personByClient } from "./person-by-client.js";
import { personByHand } from "./person-by-hand.js";
import { readThread } from "./read-thread.js";
import { openStreamOf, type ThreadViewer, watchThread } from "./watch-thread.js";

export interface RoomOptions {
  readonly url: string;
  readonly requests: Requests;
  /** Of another account. */
  readonly stranger: Requests;
  readonly plan: RoomPlan;
}

/** One thread, the person who works in it, and its viewers. */
export interface Room {
  readonly label: string;
  readonly viewers: number;
  /** The deed that is under way, in words. */
  doing(): string | undefined;
  /** All deeds, one after the other. */
  perform(signal: AbortSignal): Promise<void>;
  /** Lets its viewers go once they have seen the end of the log; those that have not by then stay. */
  retire(patienceMs: number): Promise<void>;
  /** What there is to check, when all is calm. Waits for viewers that are behind. */
  history(patienceMs: number): Promise<RoomHistory>;
  trespasses(): History["trespasses"];
  reconnects(): number;
  leave(): void;
}

export type RoomHistory = Omit<ThreadHistory, "runs" | "stored">;

const POLL_MS = 200;

export function openRoom({ url, requests, stranger, plan }: RoomOptions): Room {
  const { account, agent, threadId } = plan;
  const thread = { agent, threadId };
  const label = threadLabel(plan);
  const viewers = plan.viewers.map((viewer, index) =>
    watchThread(requests, thread, { ...viewer, name: `${index}` }),
  );
  const person: Person =
    plan.by === "hand" ? personByHand(requests, thread) : personByClient(url, requests, thread);
  const trespasses: { thread: string; words: string }[] = [];
  const gone = new Set<ThreadViewer>();
  let doing: string | undefined;

  /** Asks for the thread by its name as another tenant, who may have one of that name. */
  async function trespass(): Promise<void> {
    const texts = await Promise.all(
      [
        stranger.get(`/agents/${agent}/threads/${threadId}/state`),
        openStreamOf(stranger, thread, "envelopes", { follow: false }),
        openStreamOf(stranger, thread, "ag-ui", { follow: false }),
      ].map((asked) => asked.then((response) => response.text()).catch(() => "")),
    );
    if (texts.some((text) => marksIn(text).includes(account)))
      trespasses.push({ thread: label, words: `${stranger.account} was told a text of ${markOf(account)}` });
  }

  /** Waits for viewers to reach the log's end. Frames end earlier than the log where its last entries have none. */
  async function untilReached({ log }: Pick<ThreadHistory, "log">, patienceMs: number): Promise<void> {
    const until = performance.now() + patienceMs;
    const isBehind = (viewer: ThreadViewer) => !gone.has(viewer) && viewer.reached() < lastOf(log, viewer);
    while (viewers.some(isBehind) && performance.now() < until) await delay(POLL_MS);
  }

  /** What the page shows once it shows what is held, or at the end of patience. */
  async function readPage(held: readonly string[], patienceMs: number): Promise<readonly PageHistory[]> {
    for (const until = performance.now() + patienceMs; ; await delay(POLL_MS)) {
      const page = person.page?.();
      if (!page) return [];
      const messages = page.messages.map(withoutId);
      if (!isDeepStrictEqual(messages, held) && performance.now() < until) continue;
      return [{ name: "of the client", messages, connection: page.connection }];
    }
  }

  return {
    label,
    viewers: viewers.length + (person.page ? 1 : 0),
    doing: () => doing,
    async perform(signal) {
      for (const [index, deed] of plan.deeds.entries()) {
        await delay(deed.restMs);
        doing = `deed ${index + 1}, ${deed.deed} (${plan.by}): ${deed.plan}`;
        await person.perform(deed, signal);
        if (signal.aborted) return;
        doing = undefined;
      }
      await trespass();
    },
    async retire(patienceMs) {
      const now = await readThread(requests, thread).catch(() => undefined);
      if (!now) return;
      await untilReached(now, patienceMs);
      for (const viewer of viewers) {
        const last = lastOf(now.log, viewer);
        if (viewer.reached() < last) continue;
        gone.add(viewer);
        viewer.leave(last);
      }
    },
    async history(patienceMs) {
      await untilReached(await readThread(requests, thread), patienceMs);
      const now = await readThread(requests, thread);
      const pages = await readPage(now.held, patienceMs);
      // Once more: under faults some of these requests are not answered.
      await trespass();
      return {
        account,
        agent,
        threadId,
        ...now,
        mutations: { accepted: person.mutations(), applied: now.mutations.applied },
        sent: person.sent(),
        viewers: viewers.map((viewer) => viewer.history()),
        pages,
      };
    },
    trespasses: () => trespasses,
    reconnects: () => viewers.reduce((sum, viewer) => sum + viewer.reconnects(), 0),
    leave() {
      person.leave();
      for (const viewer of viewers) viewer.leave();
    },
  };
}

function lastOf(log: ThreadHistory["log"], { view }: ThreadViewer): number {
  return log[view].at(-1)?.seq ?? 0;
}
