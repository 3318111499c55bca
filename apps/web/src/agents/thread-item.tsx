"use client";

import dynamic from "next/dynamic";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { ConfirmDialog } from "../agent-ui/primitives/dialog";
import { Icon } from "../agent-ui/primitives/icon";
import { Menu, type MenuItem } from "../agent-ui/primitives/menu";
import { STATUS_LABELS, StatusDot } from "../agent-ui/primitives/status";
import { RelativeTime } from "../agent-ui/primitives/time";
import { useToaster } from "../agent-ui/primitives/toast";
import { useCaller } from "../data/caller";
import { type ThreadRow, useChangeThread, useDeleteThread } from "../data/thread-lists";
import { agentPath, threadPath } from "../shell/routes";
import { useSeen } from "./activity";
import { isUnread } from "./seen-threads";
import styles from "./thread-item.module.css";
import { titleOf } from "./thread-pages";

const RenameDialog = dynamic(() => import("./rename-dialog").then((module) => module.RenameDialog), {
  ssr: false,
});

interface ThreadItemProps {
  readonly row: ThreadRow;
  readonly isHere: boolean;
  readonly onChanged: () => void;
  /** Called when the row is about to leave this list. */
  readonly onLeaves: () => void;
}

export function ThreadItem({ row, isHere, onChanged, onLeaves }: ThreadItemProps): ReactNode {
  const router = useRouter();
  const toaster = useToaster();
  const seen = useSeen();
  const changeThread = useChangeThread();
  const deleteThread = useDeleteThread();
  const { refusal } = useCaller();
  const [asking, setAsking] = useState<"rename" | "delete">();
  // Loaded on the first press and stays mounted: closing it restores the focus.
  const [wasRenamed, setWasRenamed] = useState(false);
  const title = titleOf(row);
  const hasNews = !isHere && seen !== undefined && isUnread(seen, row);

  async function setArchived(archived: boolean): Promise<void> {
    try {
      await changeThread({ row, change: { archived } });
      onLeaves();
      onChanged();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      toaster.show({ key: "archive", tone: "danger", title: `“${title}” could not be changed`, text });
    }
  }

  const items: readonly MenuItem[] = [
    {
      label: "Rename",
      icon: "edit",
      reason: refusal("edit", row),
      onSelect: () => {
        setWasRenamed(true);
        setAsking("rename");
      },
    },
    {
      label: row.archived ? "Restore" : "Archive",
      icon: row.archived ? "refresh" : "archive",
      reason: refusal("edit", row),
      onSelect: () => void setArchived(!row.archived),
    },
    {
      label: "Delete",
      icon: "trash",
      isDanger: true,
      startsGroup: true,
      reason: refusal("delete_thread", row),
      onSelect: () => setAsking("delete"),
    },
  ];

  return (
    <li className={styles.item} data-here={isHere}>
      <span className={styles.point}>
        <StatusDot status={row.status} />
      </span>
      <Link
        href={threadPath(row.agentId, row.threadName, row.visibility)}
        prefetch={false}
        className={styles.link}
        title={title}
        {...(isHere && { "aria-current": "page" })}
      >
        <span className={hasNews ? styles.unread : styles.title}>{title}</span>
        {hasNews && <span className="visually-hidden">, something new</span>}
        {row.visibility === "account" && (
          <span className={styles.shared} title="Shared with the account">
            <Icon name="people" size={12} />
            <span className="visually-hidden">, shared with the account</span>
          </span>
        )}
        <span className={styles.note}>
          {row.status === "waiting" ? STATUS_LABELS.waiting : <RelativeTime at={row.lastActivityAt} />}
        </span>
      </Link>
      <Menu label={`Actions for ${title}`} items={items} className={styles.more ?? ""} />
      {wasRenamed && (
        <RenameDialog
          row={row}
          isOpen={asking === "rename"}
          onClose={() => setAsking(undefined)}
          onRenamed={onChanged}
        />
      )}
      <ConfirmDialog
        isOpen={asking === "delete"}
        onClose={() => setAsking(undefined)}
        title="Delete this thread?"
        action="Delete thread"
        onConfirm={async () => {
          await deleteThread(row);
          onLeaves();
          if (isHere) router.push(agentPath(row.agentId));
          onChanged();
        }}
      >
        “{title}” goes with all its messages, files and runs. This can't be undone. To put it out of sight
        only, archive it.
      </ConfirmDialog>
    </li>
  );
}
