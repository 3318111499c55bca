"use client";

import dynamic from "next/dynamic";
import { usePathname, useRouter } from "next/navigation";
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { IconButton } from "../agent-ui/primitives/button";
import styles from "./frame.module.css";
import { Logo } from "./page-frame";
import { Palette } from "./palette";
import { agentPath, FEEDBACK_PATH, INBOX_PATH, USAGE_PATH } from "./routes";
import { useShortcut } from "./shortcuts";
import { Sidebar, WaitingMark } from "./sidebar";
import { oppositeTheme, setTheme } from "./theme";
import { useRoute } from "./use-route";

const ShortcutList = dynamic(() => import("./shortcut-list").then((module) => module.ShortcutList), {
  ssr: false,
});

type Floating = "palette" | "shortcuts" | undefined;

/** Sidebar and page; on a phone the sidebar is a drawer. */
export function ConsoleFrame(props: { readonly account: string; readonly children: ReactNode }): ReactNode {
  const router = useRouter();
  const route = useRoute();
  const [floating, setFloating] = useState<Floating>();
  // Loaded on the first press and stays mounted: closing it restores the focus.
  const [wasListed, setListed] = useState(false);
  const drawer = useDrawer();
  const { agentId } = route;

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
        <Logo size={22} />
        <span className={styles.fill} />
        <IconButton icon="search" label="Find anything" onClick={() => setFloating("palette")} />
      </header>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a press outside the drawer closes it, as Escape does */}
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

/** Shows the sidebar as a drawer where there is no room for it next to the page. */
function useDrawer() {
  const ref = useRef<HTMLElement>(null);
  const opener = useRef<Element>(null);
  const pathname = usePathname();
  const [isOpen, setOpen] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: closes after each navigation
  useEffect(() => setOpen(false), [pathname]);

  useEffect(() => {
    if (!isOpen) return;
    opener.current = document.activeElement;
    ref.current?.focus();
    const wide = matchMedia("(min-width: 56.0625rem)");
    const leave = () => setOpen(false);
    const onKeyDown = (event: KeyboardEvent) => event.key === "Escape" && leave();
    wide.addEventListener("change", leave);
    addEventListener("keydown", onKeyDown);
    return () => {
      wide.removeEventListener("change", leave);
      removeEventListener("keydown", onKeyDown);
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
 * Opens the sidebar where there is no room for it. A page with its own bar renders this first in it, and the console's bar is
 * hidden.
 */
export function DrawerButton(): ReactNode {
  const { isOpen, open } = useContext(DrawerContext);
  return (
    <span className={styles.drawerButton} data-drawer-button="">
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
