"use client";

import type { Json } from "@throughline/ai-core";
import { memo, type ReactNode, useState } from "react";
import { CopyButton } from "../../design/copy-button";
import { Icon } from "../../design/icon";
import { type ChangedPaths, isContainer, pointerTo } from "./changed-paths";
import styles from "./state-tree.module.css";

interface StateTreeProps {
  readonly value: Json;
  readonly changes: ChangedPaths;
  /** Another one with each change, so that a mark begins anew. */
  readonly round: number;
}

const SHOWN_AT_FIRST = 50;

/** A state as a tree. What changed last is marked until something else changes. */
export function StateTree({ value, changes, round }: StateTreeProps): ReactNode {
  return (
    <div className={styles.tree}>
      <Branches value={value} path="" depth={0} changes={changes} round={round} />
    </div>
  );
}

interface PlacedProps extends StateTreeProps {
  readonly path: string;
  readonly depth: number;
}

function Branches({ value, path, depth, changes, round }: PlacedProps): ReactNode {
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

const Branch = memo(function Branch(props: PlacedProps & { readonly name: string }): ReactNode {
  const { name, value, path, depth, changes, round } = props;
  const [isOpen, setOpen] = useState(depth === 0);
  const size = isContainer(value) ? Object.keys(value).length : 0;
  const change = changes.get(path);
  // Folded away, what changed below it shows at the branch.
  const isMarked = change === "self" || (change === "within" && !isOpen);
  return (
    <li className={styles.branch}>
      <div className={styles.line} data-changed={isMarked}>
        {/* The key begins the fading anew. */}
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
            <span className={styles.size}>{sizeWords(value, size)}</span>
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
    <span className={styles.value} data-kind={kind}>
      {typeof value === "string" ? value || "empty text" : JSON.stringify(value)}
    </span>
  );
}

function sizeWords(value: Json, size: number): string {
  if (Array.isArray(value)) return `${size} ${size === 1 ? "item" : "items"}`;
  return `${size} ${size === 1 ? "key" : "keys"}`;
}
