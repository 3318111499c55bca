"use client";

import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { IconButton } from "../../design/button";
import { useDebounced } from "../../service/use-debounced";
import styles from "./find-bar.module.css";
import { findRanges } from "./find-ranges";

interface FindBarProps {
  /** What is searched: each of its elements with an id that begins with `turn-`. */
  readonly content: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
}

const TYPING_MS = 80;

/** Marks all that was typed in the thread, and goes from one to the next. */
export function FindBar({ content, onClose }: FindBarProps): ReactNode {
  const [typed, setTyped] = useState("");
  const words = useDebounced(typed, TYPING_MS);
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const ranges = useMemo(
    () => findRanges(content.current?.querySelectorAll("[id^=turn-]") ?? [], words),
    [content, words],
  );
  const current = ranges[at];

  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    mark(ranges, current);
    const element = current?.startContainer.parentElement;
    element?.scrollIntoView({ block: "center" });
    return unmark;
  }, [ranges, current]);

  function go(step: number): void {
    if (ranges.length > 0) setAt((at + step + ranges.length) % ranges.length);
  }

  function press(event: KeyboardEvent): void {
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <search className={styles.bar}>
      <input
        ref={field}
        className={styles.field}
        value={typed}
        placeholder="Find in this thread"
        aria-label="Find in this thread"
        autoComplete="off"
        onKeyDown={press}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
      />
      <span className={styles.count} role="status">
        {words.trim() !== "" && (ranges.length === 0 ? "Not found" : `${at + 1} of ${ranges.length}`)}
      </span>
      <IconButton icon="chevronLeft" label="Previous" disabled={ranges.length === 0} onClick={() => go(-1)} />
      <IconButton icon="chevronRight" label="Next" disabled={ranges.length === 0} onClick={() => go(1)} />
      <IconButton icon="close" label="Close the search" onClick={onClose} />
    </search>
  );
}

/** By the browser's own highlights: the page's elements stay as they are. A browser without them scrolls all the same. */
function mark(ranges: readonly Range[], current: Range | undefined): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.set("found", new Highlight(...ranges));
  CSS.highlights.set("found-current", new Highlight(...(current ? [current] : [])));
}

function unmark(): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("found");
  CSS.highlights.delete("found-current");
}
