"use client";

import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Icon } from "../agent-ui/primitives/icon";
import { Kbd } from "../agent-ui/primitives/kbd";
import { StatusDot } from "../agent-ui/primitives/status";
import paletteStyles from "./palette.module.css";
import { type PaletteEntry, usePaletteEntries } from "./palette-entries";

interface PaletteBodyProps {
  readonly typed: string;
  /** Whether Enter was pressed while this was loading. */
  readonly isEntered: boolean;
  readonly onType: (typed: string) => void;
  readonly onDone: () => void;
}

const PER_GROUP = 8;
const GROUPS = ["Waiting", "Agents", "Threads", "Messages", "Actions"] as const;

/** Field and results: the heavy part of the palette, loaded lazily. */
export function PaletteBody({ typed, isEntered, onType, onDone }: PaletteBodyProps): ReactNode {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const entries = usePaletteEntries(typed);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const groups = GROUPS.map((group) => ({
    group,
    found: fitting(
      entries.filter((entry) => entry.group === group),
      group,
      typed,
    ).slice(0, PER_GROUP),
  })).filter(({ found }) => found.length > 0);
  const shown = groups.flatMap(({ found }) => found);
  const current = shown[Math.min(at, shown.length - 1)];

  // Replaces the field that was shown while this was loading: takes its focus before the next key, and performs its Enter.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the first current entry
  useLayoutEffect(() => {
    field.current?.focus();
    if (isEntered) choose(current);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the current entry
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current?.id]);

  function choose(entry: PaletteEntry | undefined): void {
    if (!entry) return;
    // Closes first: the opened page may take the focus that closing restores.
    onDone();
    queueMicrotask(entry.run);
  }

  function move(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") choose(current);
    else if (step !== undefined && shown.length > 0)
      setAt((Math.min(at, shown.length - 1) + step + shown.length) % shown.length);
    else return;
    event.preventDefault();
  }

  return (
    <div className={paletteStyles.sheet}>
      <div className={paletteStyles.head}>
        <Icon name="search" />
        <input
          ref={field}
          className={paletteStyles.input}
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={current && `${id}-${current.id}`}
          aria-label="Find an agent, a thread, a message or an action"
          placeholder="Agent, thread, words of a message, action"
          value={typed}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onKeyDown={move}
          onChange={(event) => {
            onType(event.target.value);
            setAt(0);
          }}
        />
        <Kbd keys="escape" />
      </div>
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Found" className={paletteStyles.list}>
        {groups.map(({ group, found }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is not allowed in a list of options
          <div key={group} role="group" aria-label={group}>
            <p className={paletteStyles.group} aria-hidden="true">
              {group}
            </p>
            {found.map((entry) => (
              <Option
                key={entry.id}
                id={`${id}-${entry.id}`}
                entry={entry}
                isCurrent={entry === current}
                onChoose={() => choose(entry)}
                onPoint={() => setAt(shown.indexOf(entry))}
              />
            ))}
          </div>
        ))}
      </div>
      {shown.length === 0 && <p className={paletteStyles.none}>No match. Try fewer letters.</p>}
      <p className="visually-hidden" role="status">
        {shown.length === 1 ? "1 found" : `${shown.length} found`}
      </p>
    </div>
  );
}

interface OptionProps {
  readonly id: string;
  readonly entry: PaletteEntry;
  readonly isCurrent: boolean;
  readonly onChoose: () => void;
  readonly onPoint: () => void;
}

function Option({ id, entry, isCurrent, onChoose, onPoint }: OptionProps): ReactNode {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys stay with the field above
    // biome-ignore lint/a11y/useFocusableInteractive: focus stays with the field above
    <div
      id={id}
      role="option"
      aria-selected={isCurrent}
      className={paletteStyles.option}
      onClick={onChoose}
      onPointerMove={isCurrent ? undefined : onPoint}
    >
      <span className={paletteStyles.icon}>
        {entry.status ? <StatusDot status={entry.status} /> : entry.icon && <Icon name={entry.icon} />}
      </span>
      <span className={paletteStyles.label}>{entry.label}</span>
      {entry.note !== undefined && <span className={paletteStyles.note}>{entry.note}</span>}
      {entry.keys !== undefined && (
        <span className={paletteStyles.keys}>
          <Kbd keys={entry.keys} />
        </span>
      )}
    </div>
  );
}

/** Filters and ranks entries. Messages are matched by the service: their snippet need not contain every word. */
function fitting(entries: readonly PaletteEntry[], group: PaletteEntry["group"], typed: string) {
  return group === "Messages" ? entries : ranked(entries, typed, textOf);
}

function textOf({ label, note = "" }: PaletteEntry): string {
  return `${label} ${note}`;
}
/**
 * Scores how well a text matches what was typed: higher is better, `undefined` is no match. Every word must occur, in any order;
 * the beginning of the text counts most, then the beginning of a word.
 */
function rank(text: string, typed: string): number | undefined {
  const words = normalizeText(typed).split(/\s+/).filter(Boolean);
  const normalized = normalizeText(text);
  let score = 0;
  for (const word of words) {
    const at = normalized.indexOf(word);
    if (at < 0) return undefined;
    if (at === 0) score += 3;
    else score += normalized[at - 1] === " " ? 2 : 1;
  }
  // Of two equal matches, the shorter one wins.
  return score - normalized.length / 1_000;
}

/** Sorts by score, best first; equal scores retain their order. */
export function ranked<T>(all: readonly T[], typed: string, textOf: (one: T) => string): readonly T[] {
  if (typed.trim() === "") return all;
  return all
    .flatMap((one) => {
      const score = rank(textOf(one), typed);
      return score === undefined ? [] : [{ one, score }];
    })
    .sort((a, b) => b.score - a.score)
    .map(({ one }) => one);
}

/** Removes accents and case: a search for "cafe" finds "Café". */
function normalizeText(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
}
