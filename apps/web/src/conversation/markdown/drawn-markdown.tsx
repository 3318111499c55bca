"use client";

import type { Token, Tokens } from "marked";
import { createElement, memo, type ReactNode, useRef } from "react";
import type { Block } from "./block";
import { type Blocks, readBlocks } from "./blocks";
import { CodeBlock } from "./code-block";
import { Inline } from "./inline";
import styles from "./markdown.module.css";

export interface MarkdownProps {
  readonly text: string;
  readonly isGrowing?: boolean;
}

/** Text as it comes. Only the block that grows is read and drawn again. */
export function DrawnMarkdown({ text, isGrowing = false }: MarkdownProps): ReactNode {
  const before = useRef<Blocks>(undefined);
  const blocks = readBlocks(text, isGrowing, before.current);
  before.current = blocks;
  return (
    <div className={styles.text}>
      {blocks.list.map((block, at) => (
        <DrawnBlock key={block.at} block={block} isGrowing={isGrowing && at === blocks.list.length - 1} />
      ))}
    </div>
  );
}

export const DrawnBlock = memo(function DrawnBlock({
  block,
  isGrowing,
}: {
  readonly block: Block;
  readonly isGrowing: boolean;
}): ReactNode {
  return <Draw tokens={block.tokens} isGrowing={isGrowing} />;
});

function Draw({
  tokens,
  isGrowing,
}: {
  readonly tokens: readonly Token[];
  readonly isGrowing: boolean;
}): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: blocks within a block have no other name, and only grow
  return tokens.map((token, at) => <BlockPart key={at} token={token} isGrowing={isGrowing} />);
}

function BlockPart({ token, isGrowing }: { readonly token: Token; readonly isGrowing: boolean }): ReactNode {
  switch (token.type) {
    case "heading":
      // Below the page's own headings.
      return createElement(`h${Math.min(6, token.depth + 2)}`, null, <Inline tokens={token.tokens} />);
    case "paragraph":
      return (
        <p>
          <Inline tokens={token.tokens} />
        </p>
      );
    case "text":
      return <Inline tokens={token.tokens ?? [token]} />;
    case "code":
      return (
        <CodeBlock code={token.text} language={token.lang?.split(/\s/)[0] ?? ""} isGrowing={isGrowing} />
      );
    case "list":
      return <List list={token as Tokens.List} isGrowing={isGrowing} />;
    case "blockquote":
      return (
        <blockquote>
          <Draw tokens={token.tokens ?? []} isGrowing={isGrowing} />
        </blockquote>
      );
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "space":
    case "def":
    case "checkbox":
      return null;
    default:
      return <p>{token.raw}</p>;
  }
}

function List({ list, isGrowing }: { readonly list: Tokens.List; readonly isGrowing: boolean }): ReactNode {
  const items = list.items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no other name, and a list only grows
    <ListItem key={at} item={item} isGrowing={isGrowing && at === list.items.length - 1} />
  ));
  return list.ordered ? <ol start={list.start === "" ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
}

/** Of a list that grows the last items are read anew with each token: those that did not change are not drawn again. */
const ListItem = memo(
  function ListItem({
    item,
    isGrowing,
  }: {
    readonly item: Tokens.ListItem;
    readonly isGrowing: boolean;
  }): ReactNode {
    return (
      <li className={item.task ? styles.task : undefined}>
        {item.task && (
          <input type="checkbox" checked={item.checked ?? false} readOnly disabled aria-label="Done" />
        )}
        <Draw tokens={item.tokens} isGrowing={isGrowing} />
      </li>
    );
  },
  // A link's definition may come later, and then changes what the same words lead to.
  (before, after) =>
    before.isGrowing === after.isGrowing &&
    (before.item === after.item ||
      (before.item.raw === after.item.raw &&
        before.item.loose === after.item.loose &&
        !before.item.raw.includes("["))),
);

const Row = memo(
  function Row({ cells }: { readonly cells: readonly Tokens.TableCell[] }): ReactNode {
    return (
      <tr>
        {cells.map((cell, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other name
          <td key={place} data-align={cell.align ?? undefined}>
            <Inline tokens={cell.tokens} />
          </td>
        ))}
      </tr>
    );
  },
  (before, after) =>
    before.cells === after.cells ||
    (before.cells.length === after.cells.length &&
      before.cells.every(({ text }, at) => text === after.cells[at]?.text && !text.includes("["))),
);

function Table({ table }: { readonly table: Tokens.Table }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the column scrolls by keyboard
    <section className={styles.scroll} tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name
              <th key={at} scope="col" data-align={cell.align ?? undefined}>
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name, and a table only grows
            <Row key={at} cells={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}
