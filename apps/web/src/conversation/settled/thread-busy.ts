"use client";

import type { Store, ThreadSnapshot } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { useSyncExternalStore } from "react";
import { settledThread } from "./settled-thread";

/** Listeners called in one task. Each of them renders a button. */
const AT_A_TIME = 10;

const ofThread = new WeakMap<Store<ThreadSnapshot>, Store<boolean>>();

/**
 * Whether a run is under way, for what every answer of the thread shows. A run that begins or ends changes as many buttons as
 * there are answers, so listeners are called a few at a time, each time in a task of their own, which leaves room for input and
 * tokens between them. (A deferred context would not: React looks for its consumers in one go.)
 */
function threadBusy(thread: Store<ThreadSnapshot>): Store<boolean> {
  const known = ofThread.get(thread);
  if (known) return known;
  const made = makeStore(thread);
  ofThread.set(thread, made);
  return made;
}

function makeStore(thread: Store<ThreadSnapshot>): Store<boolean> {
  const settled = settledThread(thread);
  const listeners = new Set<() => void>();
  let leave: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let untold: (() => void)[] = [];
  let told = false;

  const read = () => settled.getSnapshot().run?.status === "running";

  function notice(): void {
    const now = read();
    if (now === told) return;
    told = now;
    untold = [...listeners];
    timer ??= setTimeout(tellSome);
  }

  function tellSome(): void {
    for (const listener of untold.splice(0, AT_A_TIME)) if (listeners.has(listener)) listener();
    timer = untold.length > 0 ? setTimeout(tellSome) : undefined;
  }

  return {
    getSnapshot: read,
    subscribe(listener) {
      const own = () => listener();
      listeners.add(own);
      if (!leave) {
        leave = settled.subscribe(notice);
        told = read();
      }
      return () => {
        listeners.delete(own);
        if (listeners.size > 0) return;
        leave?.();
        leave = undefined;
        clearTimeout(timer);
        [timer, untold] = [undefined, []];
      };
    },
  };
}

export function useIsThreadBusy(): boolean {
  const store = threadBusy(useThreadHandle());
  return useSyncExternalStore(store.subscribe, store.getSnapshot, notBusy);
}

const notBusy = () => false;
