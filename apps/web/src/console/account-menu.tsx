"use client";

import type { ReactNode } from "react";
import { Icon } from "../design/icon";
import { Kbd } from "../design/kbd";
import { Menu, type MenuItem } from "../design/menu";
import { useToaster } from "../design/toast";
import styles from "./account-menu.module.css";
import { signOut } from "./sign-out";
import { setTheme, type Theme, useTheme } from "./theme";

interface AccountMenuProps {
  readonly account: string;
  readonly onShortcuts: () => void;
}

const THEMES: readonly { readonly theme: Theme; readonly label: string }[] = [
  { theme: "light", label: "Light theme" },
  { theme: "dark", label: "Dark theme" },
  { theme: "system", label: "Theme of this machine" },
];

export function AccountMenu({ account, onShortcuts }: AccountMenuProps): ReactNode {
  const theme = useTheme();
  const toaster = useToaster();

  async function leave(): Promise<void> {
    if (await signOut()) return;
    toaster.show({
      key: "sign-out",
      tone: "danger",
      title: "You are still signed in",
      text: "The console does not answer. Check your connection and sign out again.",
    });
  }

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
    { label: "Sign out", icon: "signOut", startsGroup: true, onSelect: () => void leave() },
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
