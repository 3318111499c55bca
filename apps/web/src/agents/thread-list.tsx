"use client";

import Link from "next/link";
import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "../agent-ui/primitives/button";
import { Icon } from "../agent-ui/primitives/icon";
import { Skeleton } from "../agent-ui/primitives/status";
import { useCaller } from "../data/caller";
import { useDebounced } from "../data/query";
import { type ThreadRow, usePageReader, useThreadSearch } from "../data/thread-lists";
import { agentPath } from "../shell/routes";
import { useRoute } from "../shell/use-route";
import {
  type LiveThread,
  useActivityProblem,
  useListedThreads,
  useRefreshActivity,
  withLive,
} from "./activity";
import { ThreadItem } from "./thread-item";
import styles from "./thread-list.module.css";
import { joinRows, rowKey, useThreadPages } from "./thread-pages";

interface MoreThreadsProps {
  readonly count: number;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly problem: Error | undefined;
  readonly onMore: () => void;
}

/** Footer of a paged list: the number of shown rows and a button for more. */
function MoreThreads({ count, hasMore, isLoading, problem, onMore }: MoreThreadsProps): ReactNode {
  return (
    <div className={styles.more}>
      {hasMore && (
        // Not disabled while it loads: a disabled button loses the focus.
        <Button look="quiet" className={styles.button} aria-disabled={isLoading} onClick={onMore}>
          {isLoading ? "Loading…" : "Show more"}
        </Button>
      )}
      <p className={styles.count} role="status">
        {problem ? problem.message : `${count} shown`}
      </p>
    </div>
  );
}

/** Restores a keyboard user's focus when the focused row leaves the list and when the list grows. */
function useListFocus(shown: readonly ThreadRow[] | undefined) {
  const list = useRef<HTMLUListElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const leaving = useRef<{ readonly key: string; readonly at: number }>(undefined);
  const growing = useRef<{ readonly from: Element | null; readonly before: readonly ThreadRow[] }>(undefined);

  useEffect(() => {
    const gone = leaving.current;
    if (!shown || !gone || shown.some((row) => rowKey(row) === gone.key)) return;
    leaving.current = undefined;
    if (isFree()) (linkAt(list.current, Math.min(gone.at, shown.length - 1)) ?? search.current)?.focus();
  }, [shown]);

  useEffect(() => {
    const growth = growing.current;
    if (!shown || !growth) return;
    const known = new Set(growth.before.map(rowKey));
    const newest = growth.before[0]?.lastActivityAt ?? Number.POSITIVE_INFINITY;
    // New rows at the top come from polling, not from this request for more.
    const first = shown.findIndex((row) => !known.has(rowKey(row)) && row.lastActivityAt <= newest);
    if (first < 0) return;
    growing.current = undefined;
    if (isFree(growth.from)) linkAt(list.current, first)?.focus();
  }, [shown]);

  return {
    list,
    search,
    /** Call before the row at this index is removed. */
    leaves(key: string, at: number) {
      leaving.current = { key, at };
    },
    /** Call before more rows are loaded. */
    grows() {
      growing.current = { from: document.activeElement, before: shown ?? [] };
    },
  };
}

/** Whether the focus has not moved elsewhere in the meantime. */
function isFree(from?: Element | null): boolean {
  return document.activeElement === document.body || document.activeElement === from;
}

function linkAt(list: HTMLUListElement | null, at: number): HTMLElement | null | undefined {
  return list?.children[at]?.querySelector("a");
}

interface ThreadListProps {
  readonly agentId: string;
  /** Current status of the thread that is watched closely. */
  readonly live: LiveThread | undefined;
}

const TYPING_MS = 200;
const FOUND = 50;
/** A complete list of up to this length shows no count. */
const SHORT = 30;

export const ThreadList = memo(function ThreadList({ agentId, live }: ThreadListProps): ReactNode {
  const route = useRoute();
  const listed = useListedThreads(agentId);
  const listProblem = useActivityProblem();
  const refreshActivity = useRefreshActivity();
  const { isPerson } = useCaller();
  const [typed, setTyped] = useState("");
  const search = useDebounced(typed.trim(), TYPING_MS);
  const [isArchive, setArchive] = useState(false);
  const isFiltered = search !== "" || isArchive;
  const query = { search, archived: isArchive, withShared: isPerson };
  const key = JSON.stringify([agentId, search, isArchive]);
  const found = useThreadSearch(agentId, isFiltered ? { ...query, limit: FOUND } : undefined);
  const pages = useThreadPages(key, isFiltered ? found.value : listed.page, usePageReader(agentId, query));
  const rows = isFiltered ? pages.rows : pages.rows && joinRows(listed.rows ?? [], pages.rows);
  const shown = rows && withLive(rows, live);
  const problem = isFiltered ? found.problem : rows ? undefined : listProblem;
  const focus = useListFocus(shown);

  function tryAgain(): void {
    if (isFiltered) found.refresh();
    else refreshActivity();
  }

  return (
    <div className={styles.threads}>
      <div className={styles.tools}>
        <input
          ref={focus.search}
          type="search"
          className={styles.search}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          placeholder={isArchive ? "Search archived" : "Search threads"}
          aria-label={isArchive ? "Search archived threads" : "Search threads"}
        />
        <Link
          href={agentPath(agentId)}
          prefetch={false}
          className={styles.new}
          title="New thread"
          aria-label="New thread"
        >
          <Icon name="plus" />
        </Link>
      </div>
      {shown === undefined && problem === undefined && (
        <Skeleton label="Loading threads" lines={3} className={styles.loading ?? ""} />
      )}
      {problem && (
        <div className={styles.none} role="alert">
          <p>{problem.message}</p>
          <Button look="quiet" onClick={tryAgain}>
            Try again
          </Button>
        </div>
      )}
      {shown?.length === 0 && <p className={styles.none}>{emptyText(search, isArchive)}</p>}
      {shown && shown.length > 0 && (
        <ul ref={focus.list} className={styles.list}>
          {shown.map((row, at) => (
            <ThreadItem
              key={rowKey(row)}
              row={row}
              isHere={
                route.agentId === agentId && route.threadName !== undefined && rowKey(route) === rowKey(row)
              }
              onChanged={pages.refresh}
              onLeaves={() => focus.leaves(rowKey(row), at)}
            />
          ))}
        </ul>
      )}
      {shown && (pages.hasMore || shown.length > SHORT) && (
        <MoreThreads
          count={shown.length}
          hasMore={pages.hasMore}
          isLoading={pages.isLoading}
          problem={pages.problem}
          onMore={() => {
            focus.grows();
            pages.showMore();
          }}
        />
      )}
      <button type="button" className={styles.archive} onClick={() => setArchive(!isArchive)}>
        {isArchive ? "Back to open threads" : "Archived"}
      </button>
    </div>
  );
});

function emptyText(search: string, isArchive: boolean): string {
  if (search !== "") return `No thread is called “${search}”.`;
  return isArchive ? "Nothing is archived." : "No threads yet. Say something to begin one.";
}
