"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import type { ReactNode } from "react";
import { IconButton } from "../agent-ui/primitives/button";
import { Icon } from "../agent-ui/primitives/icon";
import { Kbd } from "../agent-ui/primitives/kbd";
import { Menu, type MenuItem } from "../agent-ui/primitives/menu";
import { useActivityProblem, useAllListedThreads, useWaiting } from "../agents/activity";
import { AgentList } from "../agents/agent-list";
import { waitingText } from "../inbox/waiting-text";
import { useTabMark } from "./document-title";
import { Logo } from "./page-frame";
import { preloadPalette } from "./palette";
import { FEEDBACK_PATH, INBOX_PATH, USAGE_PATH } from "./routes";
import styles from "./sidebar.module.css";
import { useSignOut } from "./sign-out";
import { setTheme, type Theme, useTheme } from "./theme";

interface SidebarProps {
  readonly account: string;
  readonly onFind: () => void;
  readonly onShortcuts: () => void;
  /** Closes the drawer that the sidebar is on a phone. */
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
          <Logo size={22} />
          Throughline
        </Link>
        <IconButton icon="close" label="Close" className={styles.close} onClick={onClose} />
      </div>
      <button
        type="button"
        className={styles.find}
        onClick={onFind}
        onPointerEnter={preloadPalette}
        onFocus={preloadPalette}
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
      <span className="visually-hidden">, {waitingText(count)}</span>
    </span>
  );
}

interface AccountMenuProps {
  readonly account: string;
  readonly onShortcuts: () => void;
}

const THEMES: readonly { readonly theme: Theme; readonly label: string }[] = [
  { theme: "light", label: "Light theme" },
  { theme: "dark", label: "Dark theme" },
  { theme: "system", label: "System theme" },
];

function AccountMenu({ account, onShortcuts }: AccountMenuProps): ReactNode {
  const theme = useTheme();
  const signOut = useSignOut();

  const items: readonly MenuItem[] = [
    ...THEMES.map((one) => ({
      label: one.label,
      isChecked: one.theme === theme,
      onSelect: () => setTheme(one.theme),
    })),
    {
      label: "Shortcuts",
      icon: "help",
      note: <Kbd keys="?" />,
      startsGroup: true,
      onSelect: onShortcuts,
    },
    { label: "Sign out", icon: "signOut", startsGroup: true, onSelect: signOut },
  ];
  return (
    <Menu
      label={`Account ${account}: theme, shortcuts, sign out`}
      items={items}
      className={styles.button ?? ""}
    >
      <span className={styles.initial} aria-hidden="true">
        {account.slice(0, 1).toUpperCase()}
      </span>
      <span className="visually-hidden">Account</span>
      <span className={styles.name}>{account}</span>
      <Icon name="more" />
    </Menu>
  );
}

/** Marks the tab while threads wait for a response. Isolated from the frame, which need not render with each poll. */
export function WaitingMark(): null {
  const listed = useAllListedThreads();
  const rows = [...listed.values()].flatMap((list) => list.rows ?? []);
  useTabMark(rows.filter(({ status }) => status === "waiting").length);
  return null;
}
