"use client";

import { usePathname, useRouter } from "next/navigation";
import { useEffect, useRef } from "react";
import { INBOX_PATH, threadPath } from "../console/paths";
import { usePlace } from "../console/use-place";
import { useToaster } from "../design/toast";
import type { CatalogAgent } from "../service/queries/agents";
import type { ThreadRow } from "../service/queries/threads";
import { rowKey, titleOf } from "./thread-row";

/** Tells a person who looks elsewhere that an agent began to wait for them. What waited before they came, the list shows. */
export function useWaitingNotice({ id, name }: CatalogAgent, rows: readonly ThreadRow[] | undefined): void {
  const place = usePlace();
  const router = useRouter();
  const toaster = useToaster();
  const before = useRef<ReadonlySet<string>>(undefined);
  const isInInbox = usePathname() === INBOX_PATH;
  const here = place.agentId === id && place.threadName !== undefined ? rowKey(place) : undefined;

  useEffect(() => {
    if (!rows) return;
    const waiting = rows.filter(({ status }) => status === "waiting");
    const known = before.current;
    before.current = new Set(waiting.map(rowKey));
    for (const key of known ?? []) {
      if (!before.current.has(key)) toaster.dismiss(noticeKey(id, key));
    }
    for (const row of waiting) {
      if (!known || known.has(rowKey(row)) || rowKey(row) === here || isInInbox) continue;
      toaster.show({
        key: noticeKey(id, rowKey(row)),
        tone: "waiting",
        title: `${name} waits for your answer`,
        text: titleOf(row),
        action: {
          label: "Answer",
          onSelect: () => router.push(threadPath(id, row.threadName, row.visibility)),
        },
      });
    }
  }, [rows, id, name, here, isInInbox, router, toaster]);

  // A person who opened the thread another way needs no notice.
  useEffect(() => {
    if (here !== undefined) toaster.dismiss(noticeKey(id, here));
  }, [id, here, toaster]);
}

function noticeKey(agentId: string, key: string): string {
  return `waiting ${agentId} ${key}`;
}
