"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import type { ReactNode } from "react";
import { useActivityProblem, useWaiting } from "../agents/activity";
import { AgentList } from "../agents/agent-list";
import { IconButton } from "../design/button";
import { Icon } from "../design/icon";
import { Kbd } from "../design/kbd";
import { Mark } from "../design/mark";
import { waitingWords } from "../inbox/waiting-words";
import { warmPalette } from "../palette/palette";
import { AccountMenu } from "./account-menu";
import { FEEDBACK_PATH, INBOX_PATH, USAGE_PATH } from "./paths";
import styles from "./sidebar.module.css";

interface SidebarProps {
  readonly account: string;
  readonly onFind: () => void;
  readonly onShortcuts: () => void;
  /** Of the drawer that it is on a phone. */
  readonly onClose: () => void;
}

export function Sidebar({ account, onFind, onShortcuts, onClose }: SidebarProps): ReactNode {
  const pathname = usePathname();
  const problem = useActivityProblem();
  return (
    <div className={styles.sidebar}>
      <div className={styles.head}>
        <Link
          href="/"
          prefetch={false}
          className={styles.home}
          {...(pathname === "/" && { "aria-current": "page" })}
        >
          <Mark size={22} />
          Throughline
        </Link>
        <IconButton icon="close" label="Close" className={styles.close} onClick={onClose} />
      </div>
      <button
        type="button"
        className={styles.find}
        onClick={onFind}
        onPointerEnter={warmPalette}
        onFocus={warmPalette}
      >
        <Icon name="search" />
        <span className={styles.findWord}>Find anything</span>
        <span className={styles.keys}>
          <Kbd keys="mod+k" />
        </span>
      </button>
      <Link
        href={INBOX_PATH}
        prefetch={false}
        className={styles.inbox}
        {...(pathname === INBOX_PATH && { "aria-current": "page" })}
      >
        <Icon name="inbox" />
        Inbox
        <WaitingCount />
      </Link>
      <nav className={styles.agents} aria-label="Agents">
        <h2 className={styles.heading}>Agents</h2>
        <AgentList />
      </nav>
      <p className={styles.problem} role="status">
        {problem && `This list may be old. ${problem.message}`}
      </p>
      <div className={styles.foot}>
        <Link
          href="/crons"
          prefetch={false}
          className={styles.link}
          {...(pathname.startsWith("/crons") && { "aria-current": "page" })}
        >
          <Icon name="clock" />
          Crons
        </Link>
        <Link
          href={USAGE_PATH}
          prefetch={false}
          className={styles.link}
          {...(pathname === USAGE_PATH && { "aria-current": "page" })}
        >
          <Icon name="usage" />
          Spend
        </Link>
        <Link
          href={FEEDBACK_PATH}
          prefetch={false}
          className={styles.link}
          {...(pathname === FEEDBACK_PATH && { "aria-current": "page" })}
        >
          <Icon name="thumbUp" />
          Feedback
        </Link>
        <AccountMenu account={account} onShortcuts={onShortcuts} />
      </div>
    </div>
  );
}

function WaitingCount(): ReactNode {
  const count = useWaiting()?.questions.length ?? 0;
  if (count === 0) return null;
  return (
    <span className={styles.count}>
      <span aria-hidden="true">{count}</span>
      <span className="visually-hidden">, {waitingWords(count)}</span>
    </span>
  );
}
