"use client";

import Link from "next/link";
import { type ReactNode, useEffect, useState } from "react";
import { agentPath } from "../console/paths";
import { usePlace } from "../console/use-place";
import { Icon } from "../design/icon";
import { Skeleton } from "../design/skeleton";
import { useResource } from "../service/use-resource";
import { useActivity } from "./activity";
import { askThreads } from "./ask-threads";
import { ThreadItem } from "./thread-item";
import styles from "./thread-list.module.css";
import type { ThreadRow } from "./thread-row";

interface ThreadListProps {
  readonly agentId: string;
  /** The newest that are not archived, as the sidebar knows them. */
  readonly rows: readonly ThreadRow[] | undefined;
}

const TYPING_MS = 200;
/** As many as the service gives at once. */
const LIMIT = 100;

export function ThreadList({ agentId, rows }: ThreadListProps): ReactNode {
  const place = usePlace();
  const { refresh: refreshActivity } = useActivity();
  const [typed, setTyped] = useState("");
  const search = useSettled(typed.trim(), TYPING_MS);
  const [isArchive, setArchive] = useState(false);
  const isFiltered = search !== "" || isArchive;
  const found = useResource(isFiltered ? JSON.stringify([agentId, search, isArchive]) : undefined, (signal) =>
    askThreads(agentId, { search, archived: isArchive, limit: LIMIT }, signal),
  );
  const shown = isFiltered ? found.value?.threads : rows;

  function refresh(): void {
    found.refresh();
    refreshActivity();
  }

  return (
    <div className={styles.threads}>
      <div className={styles.tools}>
        <input
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
      {shown === undefined && found.problem === undefined && (
        <Skeleton label="Loading threads" lines={3} className={styles.loading ?? ""} />
      )}
      {isFiltered && found.problem && <p className={styles.none}>{found.problem.message}</p>}
      {shown?.length === 0 && <p className={styles.none}>{emptyWords(search, isArchive)}</p>}
      {shown && shown.length > 0 && (
        <ul className={styles.list}>
          {shown.map((row) => (
            <ThreadItem
              key={row.threadName}
              row={row}
              isHere={place.agentId === agentId && place.threadName === row.threadName}
              onChanged={refresh}
            />
          ))}
        </ul>
      )}
      <button
        type="button"
        className={styles.archive}
        aria-pressed={isArchive}
        onClick={() => setArchive(!isArchive)}
      >
        {isArchive ? "Back to open threads" : "Archived"}
      </button>
    </div>
  );
}

function emptyWords(search: string, isArchive: boolean): string {
  if (search !== "") return `No thread is called “${search}”.`;
  return isArchive ? "Nothing is archived." : "No threads yet. Say something to begin one.";
}

/** A value once it has stayed the same for a while. */
function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
