"use client";

import type { Store, ThreadSnapshot } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { useSyncExternalStore } from "react";
import { tellFew } from "../../design/tell-few";
import { derivedStore } from "./derived-store";
import { settledThread } from "./settled-thread";

const ofThread = new WeakMap<Store<ThreadSnapshot>, Store<boolean>>();

/**
 * Whether a run is under way, for what every answer of the thread shows. A run that begins or ends changes as many buttons as
 * there are answers, so listeners are called a few at a time, and not in the frame that shows it. (A deferred context would
 * not do: React looks for its consumers in one go.)
 */
function threadBusy(thread: Store<ThreadSnapshot>): Store<boolean> {
  const known = ofThread.get(thread);
  if (known) return known;
  const settled = settledThread(thread);
  const read = () => settled.getSnapshot().run?.status === "running";
  const made = derivedStore(settled, read, (listeners) => setTimeout(tellFew, 0, listeners));
  ofThread.set(thread, made);
  return made;
}

export function useIsThreadBusy(): boolean {
  const store = threadBusy(useThreadHandle());
  return useSyncExternalStore(store.subscribe, store.getSnapshot, notBusy);
}

const notBusy = () => false;
