"use client";

import { Fragment, type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import buttonStyles from "./button.module.css";
import { Icon, type IconName } from "./icon";
import styles from "./menu.module.css";

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  /** Small text at the right: a shortcut or the current value. */
  readonly note?: ReactNode;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  /** Why it can't be chosen. Shown, and disables the item. */
  readonly reason?: string | undefined;
  /** Makes it a radio item: exactly one of its group is checked. */
  readonly isChecked?: boolean;
  /** Draws a separator above it. */
  readonly startsGroup?: boolean;
  readonly onSelect: () => void;
}

interface MenuProps {
  /** The accessible name, also shown as tooltip. */
  readonly label: string;
  /** Content of the button; three dots by default. */
  readonly children?: ReactNode;
  readonly className?: string;
  readonly items: readonly MenuItem[];
}

/** A button with a menu. Arrows, Home, End and first letters move the focus; Escape and a press outside close it. */
export function Menu({ label, children, className, items }: MenuProps): ReactNode {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);

  function entries(): readonly HTMLElement[] {
    return [
      ...(list.current?.querySelectorAll<HTMLElement>("[role^=menuitem]:not([aria-disabled=true])") ?? []),
    ];
  }

  function close(): void {
    list.current?.hidePopover();
    button.current?.focus();
  }

  function move(event: KeyboardEvent): void {
    const all = entries();
    const at = all.findIndex((entry) => entry.matches(":focus"));
    const target = targetOf(event.key, at, all);
    if (event.key === "Tab") close();
    if (!target) return;
    event.preventDefault();
    event.stopPropagation();
    target.focus();
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className={className ?? `${buttonStyles.button} ${buttonStyles.quiet} ${buttonStyles.icon}`}
        aria-label={children === undefined ? label : undefined}
        title={children === undefined ? label : undefined}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        popoverTarget={id}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          list.current?.showPopover();
        }}
      >
        {children ?? <Icon name="more" />}
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className={styles.menu}
        onKeyDown={move}
        onToggle={(event) => {
          const opens = event.newState === "open";
          setOpen(opens);
          if (!opens || !button.current) return;
          positionMenu(button.current, event.currentTarget);
          // The toggle event comes late: a fast user has focused an item already.
          if (!event.currentTarget.matches(":focus-within")) entries()[0]?.focus();
        }}
      >
        {items.map((item) => (
          <Fragment key={item.label}>
            {item.startsGroup && <hr className={styles.line} />}
            <MenuEntry item={item} onDone={close} />
          </Fragment>
        ))}
      </div>
    </>
  );
}

function MenuEntry({ item, onDone }: { readonly item: MenuItem; readonly onDone: () => void }): ReactNode {
  const isDisabled = item.isDisabled === true || item.reason !== undefined;
  const names = [styles.item, item.isDanger && styles.danger].filter(Boolean).join(" ");
  const inside = (
    <>
      <span className={styles.icon}>
        {item.isChecked ? <Icon name="check" /> : item.icon && <Icon name={item.icon} />}
      </span>
      <span className={styles.label}>
        {item.label}
        {item.reason !== undefined && <span className={styles.reason}>{item.reason}</span>}
      </span>
      {item.note !== undefined && <span className={styles.note}>{item.note}</span>}
    </>
  );
  function choose(): void {
    if (isDisabled) return;
    onDone();
    item.onSelect();
  }
  const shared = {
    type: "button",
    tabIndex: -1,
    className: names,
    onClick: choose,
    ...(isDisabled && { "aria-disabled": true }),
  } as const;
  return item.isChecked === undefined ? (
    <button role="menuitem" {...shared}>
      {inside}
    </button>
  ) : (
    <button role="menuitemradio" aria-checked={item.isChecked} {...shared}>
      {inside}
    </button>
  );
}

function targetOf(key: string, at: number, all: readonly HTMLElement[]): HTMLElement | undefined {
  switch (key) {
    case "ArrowDown":
      return all[(at + 1) % all.length];
    case "ArrowUp":
      return all.at(at <= 0 ? -1 : at - 1);
    case "Home":
      return all[0];
    case "End":
      return all.at(-1);
  }
  if (key.length !== 1) return undefined;
  const letter = key.toLowerCase();
  const following = [...all.slice(at + 1), ...all.slice(0, at + 1)];
  return following.find(({ textContent }) => textContent?.trim().toLowerCase().startsWith(letter));
}
const GAP = 4;
const EDGE = 8;

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** A position below the opener, aligned with its left edge, flipped where there is more room. Never past the edge of the window. */
export function menuPosition(
  opener: Box,
  floating: Size,
  room: Size,
): { readonly left: number; readonly top: number } {
  const fitsRight = opener.left + floating.width + EDGE <= room.width;
  const left = fitsRight ? opener.left : opener.right - floating.width;
  const fitsBelow = opener.bottom + GAP + floating.height + EDGE <= room.height;
  const top = fitsBelow ? opener.bottom + GAP : opener.top - GAP - floating.height;
  return {
    left: Math.max(EDGE, Math.min(left, room.width - floating.width - EDGE)),
    top: Math.max(EDGE, Math.min(top, room.height - floating.height - EDGE)),
  };
}

export function positionMenu(opener: Element, floating: HTMLElement): void {
  const { width, height } = floating.getBoundingClientRect();
  const { left, top } = menuPosition(
    opener.getBoundingClientRect(),
    { width, height },
    { width: innerWidth, height: innerHeight },
  );
  floating.style.left = `${left}px`;
  floating.style.top = `${top}px`;
}
