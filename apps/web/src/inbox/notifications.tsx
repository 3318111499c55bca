"use client";

import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import * as z from "zod/mini";
import { readStored, store, useStoredFlag } from "../agent-ui/primitives/stored-state";
import { useWaiting } from "../agents/activity";
import { titleOf } from "../agents/thread-pages";
import { useAgentCatalog } from "../data/agents";
import type { WaitingInterrupt } from "../data/thread-lists";
import { threadPath } from "../shell/routes";

/** Shows a browser notification for each new interrupt. Rendered only in the tab that notifies. */
export function WaitingNotices({ account }: { readonly account: string }): null {
  const waiting = useWaiting();
  const { byId } = useAgentCatalog();
  const router = useRouter();
  useEffect(() => {
    if (!waiting) return;
    const { pending, notified } = pendingNotifications(
      readNotified(account),
      waiting.questions.map(interruptKey),
    );
    storeNotified(account, notified);
    for (const question of waiting.questions) {
      const key = interruptKey(question);
      if (!pending.includes(key)) continue;
      const { agentId, threadName, visibility } = question;
      const name = byId.get(agentId)?.name ?? agentId;
      // A notification replaces an earlier one with the same tag, should two be shown for one interrupt.
      const notice = new Notification(`${name} waits for your answer`, { body: titleOf(question), tag: key });
      notice.onclick = () => {
        window.focus();
        router.push(threadPath(agentId, threadName, visibility));
        notice.close();
      };
    }
  }, [waiting, account, byId, router]);
  return null;
}

function interruptKey({ agentId, threadName, visibility, runId, interrupt }: WaitingInterrupt): string {
  return [agentId, visibility ?? "private", threadName, interrupt?.interrupt_id ?? runId].join(" ");
}

export const NOTICES_FLAG = "notices";

/** Whether this tab is the one that notifies, of all tabs of this browser. It holds a lock until it closes. */
export function useNotifier(account: string): boolean {
  const [isWanted] = useStoredFlag(NOTICES_FLAG);
  const [isNotifier, setNotifier] = useState(false);
  useEffect(() => {
    // Neither API exists in an insecure context.
    if (!isWanted || !("locks" in navigator) || !("Notification" in window)) return;
    const waiting = new AbortController();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    navigator.locks
      .request(`throughline:notices:${account}`, { signal: waiting.signal }, () => {
        setNotifier(true);
        return held;
      })
      // The request was aborted, see below.
      .catch(() => {});
    return () => {
      waiting.abort();
      release();
      setNotifier(false);
    };
  }, [account, isWanted]);
  return isNotifier;
}

const KEY = "throughline:told";
const notifiedSchema = z.object({ account: z.string(), questions: z.array(z.string()) });

/** Reads the keys of interrupts that this browser has notified of. `undefined`: none yet. */
function readNotified(account: string): readonly string[] | undefined {
  try {
    const notified = notifiedSchema.parse(JSON.parse(readStored(KEY) ?? ""));
    return notified.account === account ? notified.questions : undefined;
  } catch {
    return undefined;
  }
}

function storeNotified(account: string, questions: readonly string[]): void {
  store(KEY, JSON.stringify({ account, questions }));
}

/** Forgets the notified interrupts; the next notification starts over. */
export function clearNotified(): void {
  store(KEY, null);
}

/** Result of comparing waiting interrupts with the notified ones. */
export interface NotificationUpdate {
  /** Interrupts to notify of now. */
  readonly pending: readonly string[];
  /** Interrupts to store as notified: all that wait, so that none is notified of twice. */
  readonly notified: readonly string[];
}

/** Determines new interrupts to notify of. `notified` undefined: the ones open before notifications were turned on are skipped. */
export function pendingNotifications(
  notified: readonly string[] | undefined,
  waiting: readonly string[],
): NotificationUpdate {
  return { pending: notified ? waiting.filter((key) => !notified.includes(key)) : [], notified: waiting };
}
