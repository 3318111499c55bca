"use client";

import type { ReactNode } from "react";
import { Icon } from "../design/icon";
import { Kbd } from "../design/kbd";
import { Menu, type MenuItem } from "../design/menu";
import styles from "./account-menu.module.css";
import { setTheme, type Theme, useTheme } from "./theme";
import { useSignOut } from "./use-sign-out";

interface AccountMenuProps {
  readonly account: string;
  readonly onShortcuts: () => void;
}

const THEMES: readonly { readonly theme: Theme; readonly label: string }[] = [
  { theme: "light", label: "Light theme" },
  { theme: "dark", label: "Dark theme" },
  { theme: "system", label: "System theme" },
];

export function AccountMenu({ account, onShortcuts }: AccountMenuProps): ReactNode {
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
