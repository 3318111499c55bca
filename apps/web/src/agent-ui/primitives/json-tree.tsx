"use client";

import type { Json } from "@throughline/ai-core";
import { memo, type ReactNode, useState } from "react";
import { CopyButton } from "./copy-button";
import { Icon } from "./icon";
import styles from "./json-tree.module.css";

/** An input or output as indented JSON. A string that holds JSON, as tools return it, is formatted too. */
export function JsonView({ label, value }: { readonly label: string; readonly value: Json }): ReactNode {
  const text = prettyJson(value);
  if (text === "" || text === "{}") return null;
  return (
    <div className={styles.part}>
      <span className={styles.label}>{label}</span>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: overflowing text scrolls by keyboard */}
      <pre className={styles.value} tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}

export function prettyJson(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value, undefined, 2);
  const text = value.trim();
  if (!/^[[{]/.test(text)) return value;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return value;
  }
}

/** Changes by JSON Pointer. `self`: the value is new or replaced; `within`: a value below it changed. */
type ChangedPaths = ReadonlyMap<string, "self" | "within">;

export const NOTHING_CHANGED: ChangedPaths = new Map();

/** The paths that differ in `after`. Shared (identical) parts are not traversed. */
export function changedPaths(before: Json, after: Json): ChangedPaths {
  const changed = new Map<string, "self" | "within">();
  compare(before, after, "", changed);
  return changed;
}

/** Records changes below `path` and returns whether there was any. A removed key marks its parent, since it has no row itself. */
function compare(before: Json, after: Json, path: string, changed: Map<string, "self" | "within">): boolean {
  if (before === after) return false;
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    changed.set(path, "self");
    return true;
  }
  const old = new Map<string, Json>(Object.entries(before));
  let isWithin = false;
  for (const [key, value] of Object.entries<Json>(after)) {
    const below = pointerTo(path, key);
    const known = old.get(key);
    if (known === undefined) {
      changed.set(below, "self");
      isWithin = true;
    } else if (compare(known, value, below, changed)) isWithin = true;
    old.delete(key);
  }
  const isShorter = old.size > 0;
  if (isShorter) changed.set(path, "self");
  else if (isWithin) changed.set(path, "within");
  return isShorter || isWithin;
}

/** RFC 6901. */
function pointerTo(path: string, key: string): string {
  return `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function isContainer(value: Json): value is Json[] | { [key: string]: Json } {
  return typeof value === "object" && value !== null;
}

interface StateTreeProps {
  readonly value: Json;
  readonly changes: ChangedPaths;
  /** Incremented with each change, which restarts the fading of marks. */
  readonly round: number;
}

const SHOWN_AT_FIRST = 50;

/** A state as a tree. The latest changes are marked until the next change. */
export function StateTree({ value, changes, round }: StateTreeProps): ReactNode {
  return (
    <div className={styles.tree}>
      <Branches value={value} path="" depth={0} changes={changes} round={round} />
    </div>
  );
}

interface NodeProps extends StateTreeProps {
  readonly path: string;
  readonly depth: number;
}

function Branches({ value, path, depth, changes, round }: NodeProps): ReactNode {
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  const entries = isContainer(value) ? Object.entries<Json>(value) : [];
  return (
    <ul className={styles.branches}>
      {entries.slice(0, shown).map(([key, child]) => (
        <Branch
          key={key}
          name={key}
          value={child}
          path={pointerTo(path, key)}
          depth={depth}
          changes={changes}
          round={round}
        />
      ))}
      {entries.length > shown && (
        <li>
          <button type="button" className={styles.more} onClick={() => setShown(shown + 5 * SHOWN_AT_FIRST)}>
            {entries.length - shown} more
          </button>
        </li>
      )}
    </ul>
  );
}

const Branch = memo(function Branch(props: NodeProps & { readonly name: string }): ReactNode {
  const { name, value, path, depth, changes, round } = props;
  const [isOpen, setOpen] = useState(depth === 0);
  const size = isContainer(value) ? Object.keys(value).length : 0;
  const change = changes.get(path);
  // A collapsed branch shows the changes below it.
  const isMarked = change === "self" || (change === "within" && !isOpen);
  return (
    <li className={styles.branch}>
      <div className={styles.line} data-changed={isMarked}>
        {/* The key restarts the fading. */}
        {isMarked && <span key={round} className={styles.wash} aria-hidden="true" />}
        {size > 0 ? (
          <button
            type="button"
            className={styles.toggle}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <span className={styles.chevron}>
              <Icon name="chevronRight" size={12} />
            </span>
            <span className={styles.name}>{name}</span>
            <span className={styles.size}>{sizeText(value, size)}</span>
          </button>
        ) : (
          <span className={styles.leaf}>
            <span className={styles.name}>{name}</span>
            <Leaf value={value} />
          </span>
        )}
        {isMarked && <span className="visually-hidden">, just changed</span>}
        <CopyButton label={`Copy path ${path}`} text={() => path} className={styles.copy ?? ""} />
      </div>
      {size > 0 && isOpen && (
        <Branches value={value} path={path} depth={depth + 1} changes={changes} round={round} />
      )}
    </li>
  );
});

function Leaf({ value }: { readonly value: Json }): ReactNode {
  const kind = value === null ? "null" : typeof value;
  return (
    <span className={styles.stateTreeValue} data-kind={kind}>
      {typeof value === "string" ? value || "empty text" : JSON.stringify(value)}
    </span>
  );
}

function sizeText(value: Json, size: number): string {
  if (Array.isArray(value)) return `${size} ${size === 1 ? "item" : "items"}`;
  return `${size} ${size === 1 ? "key" : "keys"}`;
}
