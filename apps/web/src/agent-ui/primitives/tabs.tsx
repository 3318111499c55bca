"use client";

import { type KeyboardEvent, type ReactNode, useId } from "react";
import styles from "./tabs.module.css";

export interface Tab<Id extends string = string> {
  readonly id: Id;
  readonly label: string;
  /** A number shown after the label. */
  readonly count?: number;
}

interface TabsProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly value: Id;
  readonly onChange: (id: Id) => void;
  readonly className?: string;
  /** Content of the selected tab. */
  readonly children: ReactNode;
}

export function Tabs<Id extends string>(props: TabsProps<Id>): ReactNode {
  const { label, tabs, value, onChange, className, children } = props;
  const base = useId();

  function move(event: KeyboardEvent<HTMLElement>): void {
    const at = tabs.findIndex(({ id }) => id === value);
    const target = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const tab = target === undefined ? undefined : tabs.at(target % tabs.length);
    if (!tab) return;
    event.preventDefault();
    onChange(tab.id);
    document.getElementById(`${base}-${tab.id}`)?.focus();
  }

  return (
    <div className={[styles.tabs, className].filter(Boolean).join(" ")}>
      <div role="tablist" aria-label={label} className={styles.list} onKeyDown={move}>
        {tabs.map(({ id, label: name, count }) => (
          <button
            key={id}
            id={`${base}-${id}`}
            type="button"
            role="tab"
            aria-selected={id === value}
            aria-controls={`${base}-panel`}
            tabIndex={id === value ? 0 : -1}
            className={styles.tab}
            onClick={() => onChange(id)}
          >
            {name}
            {count !== undefined && <span className={styles.count}>{count}</span>}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${base}-panel`}
        aria-labelledby={`${base}-${value}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the content may scroll and have no focusable element
        tabIndex={0}
        className={styles.panel}
      >
        {children}
      </div>
    </div>
  );
}
