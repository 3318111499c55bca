"use client";

import { useRouter } from "next/navigation";
import { useMemo } from "react";
import { messageAnchor } from "../agent-ui/conversation/anchors";
import type { IconName } from "../agent-ui/primitives/icon";
import type { Status } from "../agent-ui/primitives/status";
import { threadToOpen, useAllListedThreads, useWaiting } from "../agents/activity";
import { joinRows, rowKey, titleOf } from "../agents/thread-pages";
import { useAgentCatalog } from "../data/agents";
import { useCaller } from "../data/caller";
import { type FoundThread, useFoundThreads } from "../data/found-threads";
import { useDebounced } from "../data/query";
import { waitingText } from "../inbox/waiting-text";
import { agentPath, INBOX_PATH, threadPath } from "./routes";
import { useShortcuts } from "./shortcuts";
import { useSignOut } from "./sign-out";
import { setTheme } from "./theme";

export interface PaletteEntry {
  readonly id: string;
  readonly group: "Waiting" | "Agents" | "Threads" | "Messages" | "Actions";
  readonly label: string;
  /** Secondary text next to the label. */
  readonly note?: string;
  readonly keys?: string;
  readonly icon?: IconName;
  readonly status?: Status;
  readonly run: () => void;
}

/** Lists all current targets and actions; of threads the newest, and older ones whose title or text matches what is typed. */
export function usePaletteEntries(typed: string): readonly PaletteEntry[] {
  const router = useRouter();
  const { agents } = useAgentCatalog();
  const listed = useAllListedThreads();
  const waitingCount = useWaiting()?.questions.length ?? 0;
  const shortcuts = useShortcuts();
  const signOut = useSignOut();
  const found = useTypedThreads(typed);

  return useMemo(() => {
    const known = agents ?? [];
    const go = (path: string) => () => router.push(path);
    const toInbox: readonly PaletteEntry[] =
      waitingCount === 0
        ? []
        : [
            {
              id: "inbox",
              group: "Waiting",
              label: waitingText(waitingCount),
              note: "Inbox",
              status: "waiting",
              run: go(INBOX_PATH),
            },
          ];
    const toAgents = known.map((agent): PaletteEntry => {
      const toOpen = threadToOpen(listed.get(agent.id)?.rows ?? []);
      return {
        id: `agent ${agent.id}`,
        group: "Agents",
        label: agent.name,
        note: agent.description,
        icon: "node",
        run: go(toOpen ? threadPath(agent.id, toOpen.threadName, toOpen.visibility) : agentPath(agent.id)),
      };
    });
    const toThreads = known
      .flatMap((agent) => {
        const called = found.filter(({ agentId }) => agentId === agent.id);
        const rows = joinRows(called, listed.get(agent.id)?.rows ?? []);
        return rows.map((row) => ({ agent, row }));
      })
      .sort((a, b) => b.row.lastActivityAt - a.row.lastActivityAt)
      .map(
        ({ agent, row }): PaletteEntry => ({
          id: `thread ${agent.id} ${rowKey(row)}`,
          group: "Threads",
          label: titleOf(row),
          note: agent.name,
          status: row.status,
          run: go(threadPath(agent.id, row.threadName, row.visibility)),
        }),
      );
    const toMessages = found.flatMap((row): PaletteEntry[] => {
      const agent = known.find(({ id }) => id === row.agentId);
      if (!agent || !row.match) return [];
      const { messageId, snippet } = row.match;
      const path = threadPath(agent.id, row.threadName, row.visibility);
      const anchor = messageAnchor(messageId);
      return [
        {
          id: `message ${agent.id} ${rowKey(row)}`,
          group: "Messages",
          label: snippet,
          note: `${titleOf(row)} · ${agent.name}`,
          icon: "thought",
          // Within a page, only the browser's own navigation reports that the anchor changed.
          run: () =>
            location.pathname === path ? location.assign(`#${anchor}`) : router.push(`${path}#${anchor}`),
        },
      ];
    });
    const newThreads = known.map(
      (agent): PaletteEntry => ({
        id: `new ${agent.id}`,
        group: "Actions",
        label: `New thread with ${agent.name}`,
        icon: "plus",
        run: go(agentPath(agent.id)),
      }),
    );
    // Each shortcut of the page is also an action.
    const byKey = shortcuts
      .filter(({ keys }) => keys !== "mod+k")
      .map(
        ({ keys, label, run }): PaletteEntry => ({
          id: `key ${keys}`,
          group: "Actions",
          label,
          keys,
          icon: "bolt",
          run,
        }),
      );
    const actions: readonly PaletteEntry[] = [
      { id: "light", group: "Actions", label: "Light theme", icon: "sun", run: () => setTheme("light") },
      { id: "dark", group: "Actions", label: "Dark theme", icon: "moon", run: () => setTheme("dark") },
      {
        id: "system",
        group: "Actions",
        label: "System theme",
        icon: "model",
        run: () => setTheme("system"),
      },
      { id: "sign-out", group: "Actions", label: "Sign out", icon: "signOut", run: signOut },
    ];
    return [
      ...toInbox,
      ...toAgents,
      ...toThreads,
      ...toMessages,
      ...new Map(byKey.map((entry) => [entry.id, entry])).values(),
      ...newThreads,
      ...actions,
    ];
  }, [agents, listed, waitingCount, found, router, shortcuts, signOut]);
}

const TYPING_MS = 200;
/** A single letter finds too much. */
const FEWEST_LETTERS = 2;
const FOUND = 20;
const NONE: readonly FoundThread[] = [];

/** Threads whose title or message text matches what is typed, however old. */
function useTypedThreads(typed: string): readonly FoundThread[] {
  const { isPerson } = useCaller();
  const search = useDebounced(typed.trim(), TYPING_MS);
  const isSearching = search.length >= FEWEST_LETTERS;
  return useFoundThreads(isSearching ? search : "", { isPerson, limit: FOUND }).value ?? NONE;
}
