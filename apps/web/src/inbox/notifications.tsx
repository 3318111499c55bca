"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useEffect, useState } from "react";
import * as z from "zod/mini";
import { Button } from "../agent-ui/primitives/button";
import { readStored, store, useKeptFlag } from "../agent-ui/primitives/stored-state";
import { useWaiting } from "../agents/activity";
import { titleOf } from "../agents/thread-pages";
import { useAgentCatalog } from "../data/agents";
import type { WaitingQuestion } from "../data/thread-lists";
import { threadPath } from "../shell/routes";
import styles from "./notifications.module.css";

/** Notifies of each question that begins to wait. Rendered in the tab that notifies alone. */
export function WaitingNotices({ account }: { readonly account: string }): null {
  const waiting = useWaiting();
  const { byId } = useAgentCatalog();
  const router = useRouter();
  useEffect(() => {
    if (!waiting) return;
    const { untold, told } = untoldOf(readTold(account), waiting.questions.map(questionKey));
    keepTold(account, told);
    for (const question of waiting.questions) {
      const key = questionKey(question);
      if (!untold.includes(key)) continue;
      const { agentId, threadName, visibility } = question;
      const name = byId.get(agentId)?.name ?? agentId;
      // One of the same tag takes the other's place, should two be shown for one question.
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

function questionKey({ agentId, threadName, visibility, runId, interrupt }: WaitingQuestion): string {
  return [agentId, visibility ?? "private", threadName, interrupt?.interrupt_id ?? runId].join(" ");
}

const NOTICES_FLAG = "notices";

/** Whether this tab is the one that notifies, of all tabs of this browser: it holds a lock until it closes. */
export function useNotifier(account: string): boolean {
  const [isWanted] = useKeptFlag(NOTICES_FLAG);
  const [isNotifier, setNotifier] = useState(false);
  useEffect(() => {
    // Neither exists where a browser does not trust the connection.
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
      // The wait was given up, see below.
      .catch(() => {});
    return () => {
      waiting.abort();
      release();
      setNotifier(false);
    };
  }, [account, isWanted]);
  return isNotifier;
}

/** Turns notifications of the browser on and off. They are asked for by this press and never before. */
export function NoticeButton(): ReactNode {
  const [isWanted, setWanted] = useKeptFlag(NOTICES_FLAG);
  const [permission, setPermission] = useState<NotificationPermission>();
  useEffect(() => {
    if ("Notification" in window && "locks" in navigator) setPermission(Notification.permission);
  }, []);

  function turnOff(): void {
    setWanted(false);
    forgetTold();
  }

  async function turnOn(): Promise<void> {
    const answer = await Notification.requestPermission();
    setPermission(answer);
    if (answer === "granted") setWanted(true);
  }

  // A browser without them, or a connection that it does not trust.
  if (permission === undefined) return null;
  if (permission === "denied") {
    return (
      <p className={styles.blocked}>
        This browser blocks notifications. Allow them in its settings for this page.
      </p>
    );
  }
  const isOn = isWanted && permission === "granted";
  return (
    <Button aria-pressed={isOn} onClick={() => (isOn ? turnOff() : void turnOn())}>
      {isOn ? "Notifications are on" : "Notify me"}
    </Button>
  );
}

const KEY = "throughline:told";
const toldSchema = z.object({ account: z.string(), questions: z.array(z.string()) });

/** Questions that this browser told a person of; `undefined`: of none yet. */
function readTold(account: string): readonly string[] | undefined {
  try {
    const told = toldSchema.parse(JSON.parse(readStored(KEY) ?? ""));
    return told.account === account ? told.questions : undefined;
  } catch {
    return undefined;
  }
}

function keepTold(account: string, questions: readonly string[]): void {
  store(KEY, JSON.stringify({ account, questions }));
}

/** With the next notification it begins anew. */
function forgetTold(): void {
  store(KEY, null);
}
export interface Telling {
  /** Questions to notify of now. */
  readonly untold: readonly string[];
  /** What to remember: all that wait, so that none is told twice. */
  readonly told: readonly string[];
}

/** Which questions a person was not told of yet. `told` undefined: what waited before they wanted to be told, the list shows. */
export function untoldOf(told: readonly string[] | undefined, waiting: readonly string[]): Telling {
  return { untold: told ? waiting.filter((key) => !told.includes(key)) : [], told: waiting };
}
