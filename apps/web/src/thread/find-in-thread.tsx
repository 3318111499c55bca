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
import { IconButton } from "../agent-ui/primitives/button";
import { useDebounced } from "../data/query";
import styles from "./find-in-thread.module.css";

interface FindBarProps {
  /** Element that is searched: each descendant whose id begins with `turn-`. */
  readonly content: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
}

const TYPING_MS = 80;

/** Find bar: highlights all matches in the thread and steps through them. */
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

/** Highlights matches with the CSS Highlight API, without a change of elements. A browser without it still scrolls. */
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
/**
 * Finds words in rendered text, in the order of the page. Ignores case and accents; a match may span several elements, as where a
 * part of it is bold.
 */
export function findRanges(roots: Iterable<Node>, words: string): Range[] {
  const wanted = normalizeText(words.trim());
  return wanted === "" ? [] : [...roots].flatMap((root) => rangesIn(root, wanted));
}

interface Piece {
  readonly node: Text;
  /** Its offset in the joined text. */
  readonly from: number;
}

function rangesIn(root: Node, wanted: string): Range[] {
  const pieces: Piece[] = [];
  let text = "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!(node instanceof Text)) continue;
    pieces.push({ node, from: text.length });
    text += node.data;
  }
  const normalized = normalizeText(text);
  // Letters whose normal form has another length would shift the highlights: then only case is ignored.
  const searched = normalized.length === text.length ? normalized : text.toLowerCase();
  const ranges: Range[] = [];
  for (let at = searched.indexOf(wanted); at >= 0; at = searched.indexOf(wanted, at + wanted.length)) {
    ranges.push(rangeOf(pieces, at, at + wanted.length));
  }
  return ranges;
}

function rangeOf(pieces: readonly Piece[], from: number, to: number): Range {
  const range = document.createRange();
  const first = pieces.findLast((piece) => piece.from <= from);
  const last = pieces.findLast((piece) => piece.from < to);
  if (first) range.setStart(first.node, from - first.from);
  if (last) range.setEnd(last.node, to - last.from);
  return range;
}

function normalizeText(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
}
