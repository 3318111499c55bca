"use client";

import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Button } from "../../agent-ui/primitives/button";
import { Icon } from "../../agent-ui/primitives/icon";
import styles from "./log-list.module.css";
import type { LogRow } from "./log-row";

/** Same as in the stylesheet. */
const ROW_HEIGHT = 24;

interface LogListProps {
  readonly label: string;
  readonly count: number;
  readonly rowAt: (index: number) => LogRow | undefined;
  /** Row with the keyboard cursor. */
  readonly chosen: number | undefined;
  readonly onChoose: (index: number) => void;
  readonly onOpen: (index: number) => void;
  readonly onEscape: () => void;
  /** Marks the rows of this log position, which is selected in the other list. */
  readonly relatedSeq: number | undefined;
  readonly empty: ReactNode;
}

/** A log of any length. Arrows, Page, Home and End move; Enter opens. */
export function LogList({ empty, ...rest }: LogListProps): ReactNode {
  // A screen reader announces a list box without options as broken.
  return rest.count === 0 ? <p className={styles.empty}>{empty}</p> : <FilledList {...rest} />;
}

function FilledList(props: Omit<LogListProps, "empty">): ReactNode {
  const { label, count, rowAt, chosen, onChoose, onOpen, onEscape, relatedSeq } = props;
  const id = useId();
  const { ref, onScroll, start, end, isAtEnd, reveal, toEnd } = useVirtualRows(count, ROW_HEIGHT);

  function move(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor((ref.current?.clientHeight ?? 0) / ROW_HEIGHT) - 1);
    const at = chosen ?? (event.key === "ArrowUp" || event.key === "PageUp" ? count : -1);
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: count - 1,
    };
    if (event.key === "Escape") {
      onEscape();
      return;
    }
    if (event.key === "Enter" && chosen !== undefined) onOpen(chosen);
    else {
      const target = steps[event.key];
      if (target === undefined) return;
      const next = Math.max(0, Math.min(count - 1, target));
      onChoose(next);
      reveal(next);
    }
    event.preventDefault();
  }

  const indices = Array.from({ length: end - start }, (_, offset) => start + offset);
  return (
    <div className={styles.list}>
      <div
        ref={ref}
        className={styles.scroller}
        role="listbox"
        tabIndex={0}
        aria-label={label}
        aria-activedescendant={
          chosen !== undefined && chosen >= start && chosen < end ? `${id}-${chosen}` : undefined
        }
        onScroll={onScroll}
        onKeyDown={move}
      >
        <div className={styles.rows} role="presentation" style={{ height: count * ROW_HEIGHT }}>
          {indices.map((index) => {
            const row = rowAt(index);
            if (!row) return null;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
              <div
                key={row.key}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === chosen}
                aria-setsize={count}
                aria-posinset={index + 1}
                className={styles.row}
                data-log-row=""
                data-related={relatedSeq !== undefined && row.seq === relatedSeq}
                style={{ transform: `translateY(${index * ROW_HEIGHT}px)` }}
                onClick={() => {
                  onChoose(index);
                  onOpen(index);
                }}
              >
                <LogCells row={row} />
              </div>
            );
          })}
        </div>
      </div>
      {!isAtEnd && (
        <Button className={styles.toEnd} onClick={toEnd}>
          <Icon name="arrowDown" size={14} />
          Newest
        </Button>
      )}
    </div>
  );
}

function LogCells({ row }: { readonly row: LogRow }): ReactNode {
  return (
    <>
      <span className={styles.seq}>{row.seq ?? "–"}</span>
      <span className={styles.time}>{formatClock(row.time)}</span>
      <span className={styles.type} data-family={familyOf(row.type)}>
        {row.type}
      </span>
      <span className={styles.summary}>{row.summary}</span>
      {row.latencyMs !== undefined && <span className={styles.latency}>{row.latencyMs} ms</span>}
    </>
  );
}

function formatClock(time: number): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  const seconds = `${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
  return `${two(date.getHours())}:${two(date.getMinutes())}:${seconds}`;
}

/** Colour family of an entry type: run boundaries, interrupts, failures and the rest. */
function familyOf(type: string): "run" | "waiting" | "danger" | "plain" {
  const name = type.toLowerCase();
  if (name === "error" || name === "run_error" || name === "warning" || name === "retract") return "danger";
  if (name === "interrupt") return "waiting";
  return name.startsWith("run_") ? "run" : "plain";
}

export interface VirtualRows extends VirtualWindow {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly onScroll: () => void;
  /** Whether the end is in view; it stays in view then while rows are added. */
  readonly isAtEnd: boolean;
  reveal(index: number): void;
  toEnd(): void;
}

/** Tracks the visible ones of `count` rows in an element that scrolls. */
function useVirtualRows(count: number, rowHeight: number): VirtualRows {
  const ref = useRef<HTMLDivElement>(null);
  const [viewport, setViewport] = useState({ scrollTop: 0, height: 0 });
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const lastTop = useRef(0);

  const measure = useCallback(() => {
    const element = ref.current;
    if (!element) return;
    const { scrollTop, clientHeight: height, scrollHeight } = element;
    setViewport((before) =>
      before.scrollTop === scrollTop && before.height === height ? before : { scrollTop, height },
    );
    const isEnd = scrollTop + height >= scrollHeight - rowHeight;
    // Only a person scrolls up: rows that arrive before a scroll event is handled move the end, not the top.
    const wentUp = scrollTop < lastTop.current - 1;
    lastTop.current = scrollTop;
    follows.current = isEnd || (follows.current && !wentUp);
    setAtEnd(follows.current);
  }, [rowHeight]);

  const toEnd = useCallback(() => {
    follows.current = true;
    const element = ref.current;
    if (element) element.scrollTop = element.scrollHeight;
    measure();
  }, [measure]);

  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => (follows.current ? toEnd() : measure()));
    observer.observe(element);
    // Under load Chromium reports the old height of the list to the effect below; the observer gets the current one.
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [measure, toEnd]);

  // Before paint: a new row must not show half and then jump.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the count moves the end
  useLayoutEffect(() => {
    if (follows.current) toEnd();
  }, [count, toEnd]);

  const reveal = useCallback(
    (index: number) => {
      const element = ref.current;
      if (!element) return;
      const top = index * rowHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + rowHeight > element.scrollTop + element.clientHeight) {
        element.scrollTop = top + rowHeight - element.clientHeight;
      }
      measure();
    },
    [measure, rowHeight],
  );

  return {
    ...virtualWindow({ ...viewport, rowHeight, count }),
    ref,
    onScroll: measure,
    isAtEnd,
    reveal,
    toEnd,
  };
}
interface VirtualWindow {
  /** The first row to draw. */
  readonly start: number;
  /** Index after the last row to draw. */
  readonly end: number;
}

interface ViewportGeometry {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}

/** Rows drawn beyond each edge, so that a quick wheel shows no blank. */
const BEYOND = 4;
/** More than the tallest screen shows: a pane that reports an absurd height still draws few. */
const MAX_ROWS = 200;

/** Computes which of many rows of equal height are drawn: all visible ones, and never more than 200. */
export function virtualWindow({ scrollTop, height, rowHeight, count }: ViewportGeometry): VirtualWindow {
  const seen = Math.ceil(Math.max(0, height) / rowHeight) + 1;
  const length = Math.min(count, MAX_ROWS, seen + 2 * BEYOND);
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight) - BEYOND;
  const start = Math.max(0, Math.min(first, count - length));
  return { start, end: start + length };
}
