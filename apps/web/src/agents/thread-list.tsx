"use client";

import Link from "next/link";
import { memo, type ReactNode, useState } from "react";
import { useCaller } from "../console/caller";
import { agentPath } from "../console/paths";
import { usePlace } from "../console/use-place";
import { Button } from "../design/button";
import { Icon } from "../design/icon";
import { Skeleton } from "../design/skeleton";
import { usePageReader, useThreadSearch } from "../service/queries/threads";
import { useDebounced } from "../service/use-debounced";
import { useActivityProblem, useListedThreads, useRefreshActivity } from "./activity";
import { type LiveThread, withLive } from "./agent-status";
import { joinRows } from "./merge-rows";
import { MoreThreads } from "./more-threads";
import { ThreadItem } from "./thread-item";
import styles from "./thread-list.module.css";
import { rowKey } from "./thread-row";
import { useListFocus } from "./use-list-focus";
import { useThreadPages } from "./use-thread-pages";

interface ThreadListProps {
  readonly agentId: string;
  /** How the thread that is looked at stands. */
  readonly live: LiveThread | undefined;
}

const TYPING_MS = 200;
const FOUND = 50;
/** A list that can be taken in at a glance says nothing of its length. */
const SHORT = 30;

export const ThreadList = memo(function ThreadList({ agentId, live }: ThreadListProps): ReactNode {
  const place = usePlace();
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
      {shown?.length === 0 && <p className={styles.none}>{emptyWords(search, isArchive)}</p>}
      {shown && shown.length > 0 && (
        <ul ref={focus.list} className={styles.list}>
          {shown.map((row, at) => (
            <ThreadItem
              key={rowKey(row)}
              row={row}
              isHere={
                place.agentId === agentId && place.threadName !== undefined && rowKey(place) === rowKey(row)
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

function emptyWords(search: string, isArchive: boolean): string {
  if (search !== "") return `No thread is called “${search}”.`;
  return isArchive ? "Nothing is archived." : "No threads yet. Say something to begin one.";
}
