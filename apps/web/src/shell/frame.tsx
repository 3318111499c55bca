"use client";

import dynamic from "next/dynamic";
import { usePathname, useRouter } from "next/navigation";
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { IconButton } from "../agent-ui/primitives/button";
import styles from "./frame.module.css";
import { Mark } from "./page-frame";
import { Palette } from "./palette";
import { agentPath, FEEDBACK_PATH, INBOX_PATH, USAGE_PATH } from "./routes";
import { useShortcut } from "./shortcuts";
import { Sidebar, WaitingMark } from "./sidebar";
import { oppositeTheme, setTheme } from "./theme";
import { usePlace } from "./use-route";

const ShortcutList = dynamic(() => import("./shortcut-list").then((module) => module.ShortcutList), {
  ssr: false,
});

type Floating = "palette" | "shortcuts" | undefined;

/** Sidebar and page; on a phone the sidebar is a drawer. */
export function ConsoleFrame(props: { readonly account: string; readonly children: ReactNode }): ReactNode {
  const router = useRouter();
  const place = usePlace();
  const [floating, setFloating] = useState<Floating>();
  // Loaded with the first press, and kept: closing it gives the focus back.
  const [wasListed, setListed] = useState(false);
  const drawer = useDrawer();
  const { agentId } = place;

  function listShortcuts(): void {
    setListed(true);
    setFloating("shortcuts");
  }

  useShortcut("mod+k", "Find anything", () => setFloating("palette"));
  useShortcut("?", "List of shortcuts", listShortcuts);
  useShortcut("g h", "Go to all agents", () => router.push("/"));
  useShortcut("g i", "Go to the inbox", () => router.push(INBOX_PATH));
  useShortcut("g c", "Go to crons", () => router.push("/crons"));
  useShortcut("g u", "Go to spend", () => router.push(USAGE_PATH));
  useShortcut("g f", "Go to feedback", () => router.push(FEEDBACK_PATH));
  useShortcut("t", "Switch between light and dark", () => setTheme(oppositeTheme()));
  useShortcut(agentId && "n", "New thread", () => agentId && router.push(agentPath(agentId)));

  return (
    <div className={styles.frame}>
      <a href="#main" className={styles.skip}>
        Skip to content
      </a>
      <header className={styles.bar} inert={drawer.isOpen}>
        <DrawerContext value={drawer}>
          <DrawerButton />
        </DrawerContext>
        <Mark size={22} />
        <span className={styles.fill} />
        <IconButton icon="search" label="Find anything" onClick={() => setFloating("palette")} />
      </header>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a press beside the drawer closes it, as Escape does */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above */}
      <div className={styles.shade} data-open={drawer.isOpen} onClick={drawer.close} />
      <aside
        ref={drawer.ref}
        id="sidebar"
        className={styles.sidebar}
        data-open={drawer.isOpen}
        aria-label="Agents and threads"
        tabIndex={-1}
      >
        <Sidebar
          account={props.account}
          onFind={() => setFloating("palette")}
          onShortcuts={listShortcuts}
          onClose={drawer.close}
        />
      </aside>
      <main id="main" className={styles.main} tabIndex={-1} inert={drawer.isOpen}>
        <DrawerContext value={drawer}>{props.children}</DrawerContext>
      </main>
      <WaitingMark />
      <Palette isOpen={floating === "palette"} onClose={() => setFloating(undefined)} />
      {wasListed && <ShortcutList isOpen={floating === "shortcuts"} onClose={() => setFloating(undefined)} />}
    </div>
  );
}

/** Where there is no room for it beside the page, the sidebar comes and goes. */
function useDrawer() {
  const ref = useRef<HTMLElement>(null);
  const opener = useRef<Element>(null);
  const pathname = usePathname();
  const [isOpen, setOpen] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: wherever it led to, it is out of the way
  useEffect(() => setOpen(false), [pathname]);

  useEffect(() => {
    if (!isOpen) return;
    opener.current = document.activeElement;
    ref.current?.focus();
    const wide = matchMedia("(min-width: 56.0625rem)");
    const leave = () => setOpen(false);
    const hear = (event: KeyboardEvent) => event.key === "Escape" && leave();
    wide.addEventListener("change", leave);
    addEventListener("keydown", hear);
    return () => {
      wide.removeEventListener("change", leave);
      removeEventListener("keydown", hear);
      if (opener.current instanceof HTMLElement) opener.current.focus();
    };
  }, [isOpen]);

  return { ref, isOpen, open: () => setOpen(true), close: () => setOpen(false) };
}

export interface Drawer {
  readonly isOpen: boolean;
  open(): void;
}

const DrawerContext = createContext<Drawer>({ isOpen: false, open() {} });

/**
 * Opens the sidebar where there is no room for it. A page that has a bar of its own puts this first in it, and the console's
 * bar goes away.
 */
export function DrawerButton(): ReactNode {
  const { isOpen, open } = useContext(DrawerContext);
  return (
    <span className={styles.place} data-drawer-button="">
      <IconButton
        icon="menu"
        label="Agents and threads"
        aria-expanded={isOpen}
        aria-controls="sidebar"
        onClick={open}
      />
    </span>
  );
}
