"use client";

import type { Token, Tokens } from "marked";
import { createElement, memo, type ReactNode, useRef } from "react";
import { attachmentIdOf, ShownFile, useFileHref } from "../conversation/attachments";
import { CodeBlock } from "./code-block";
import { type Block, type Blocks, readBlocks } from "./incremental-blocks";
import markdownStyles from "./markdown.module.css";

/** Renders inline tokens. Unknown ones are shown as written. */
function Inline({ tokens }: { readonly tokens: readonly Token[] | undefined }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: inline parts have no other key, and a line only grows
  return tokens?.map((token, at) => <Part key={at} token={token} />);
}

function Part({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      );
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link token={token} />;
    case "image":
      return <Link token={{ ...token, tokens: [] }} />;
    case "text":
      return "tokens" in token && token.tokens ? (
        <Inline tokens={token.tokens} />
      ) : (
        withNamedCharacters(token.text)
      );
    case "escape":
      return token.text;
    case "checkbox":
      return null;
    default:
      return token.raw;
  }
}

/**
 * Renders a link. Images become links too, except files of the thread: loading a URL that an agent names would disclose the reader
 * to strangers.
 */
function Link({ token }: { readonly token: Token }): ReactNode {
  const { text, tokens, ...link } = token as Tokens.Link;
  const href = withNamedCharacters(link.href);
  const fileHref = useFileHref();
  const id = attachmentIdOf(href);
  if (id !== undefined && fileHref) {
    return <ShownFile name={text} href={fileHref(id)} isPicture={token.type === "image"} />;
  }
  const words = tokens && tokens.length > 0 ? <Inline tokens={tokens} /> : withNamedCharacters(text) || href;
  if (!isSafe(href)) return words;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {words}
    </a>
  );
}

function isSafe(href: string): boolean {
  return URL.canParse(href) && ["https:", "http:", "mailto:"].includes(new URL(href).protocol);
}
/** Named character references in use. Marked decodes numbers (`&#8212;`) and leaves names to a browser that receives HTML. */
const CHARACTERS: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  shy: "\u00ad",
  ensp: "\u2002",
  emsp: "\u2003",
  thinsp: "\u2009",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  copy: "©",
  reg: "®",
  trade: "™",
  sect: "§",
  deg: "°",
  micro: "µ",
  plusmn: "±",
  times: "×",
  divide: "÷",
  minus: "−",
  ne: "≠",
  le: "≤",
  ge: "≥",
  asymp: "≈",
  infin: "∞",
  larr: "←",
  uarr: "↑",
  rarr: "→",
  darr: "↓",
  harr: "↔",
  cent: "¢",
  pound: "£",
  euro: "€",
  yen: "¥",
  check: "✓",
};

/** Decodes named characters such as `&lt;`. Unknown names stay as written. */
function withNamedCharacters(text: string): string {
  return text.includes("&")
    ? text.replace(/&([a-z]+);/gi, (written, name: string) =>
        Object.hasOwn(CHARACTERS, name) ? (CHARACTERS[name] ?? written) : written,
      )
    : text;
}

export interface MarkdownProps {
  readonly text: string;
  readonly isGrowing?: boolean;
}

/** Renders streaming Markdown. Only the growing block is parsed and rendered again. */
export function RenderedMarkdown({ text, isGrowing = false }: MarkdownProps): ReactNode {
  const before = useRef<Blocks>(undefined);
  const blocks = readBlocks(text, isGrowing, before.current);
  before.current = blocks;
  return (
    <div className={markdownStyles.text}>
      {blocks.list.map((block, at) => (
        <RenderedBlock key={block.at} block={block} isGrowing={isGrowing && at === blocks.list.length - 1} />
      ))}
    </div>
  );
}

export const RenderedBlock = memo(function RenderedBlock({
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
  // biome-ignore lint/suspicious/noArrayIndexKey: nested blocks have no other key, and only grow
  return tokens.map((token, at) => <BlockPart key={at} token={token} isGrowing={isGrowing} />);
}

function BlockPart({ token, isGrowing }: { readonly token: Token; readonly isGrowing: boolean }): ReactNode {
  switch (token.type) {
    case "heading":
      // Below the headings of the page.
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
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no other key, and a list only grows
    <ListItem key={at} item={item} isGrowing={isGrowing && at === list.items.length - 1} />
  ));
  return list.ordered ? <ol start={list.start === "" ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
}

/** A list item. Each token reparses the last items of a growing list; unchanged ones are not rendered again. */
const ListItem = memo(
  function ListItem({
    item,
    isGrowing,
  }: {
    readonly item: Tokens.ListItem;
    readonly isGrowing: boolean;
  }): ReactNode {
    return (
      <li className={item.task ? markdownStyles.task : undefined}>
        {item.task && (
          <input type="checkbox" checked={item.checked ?? false} readOnly disabled aria-label="Done" />
        )}
        <Draw tokens={item.tokens} isGrowing={isGrowing} />
      </li>
    );
  },
  // A link definition may come later, and then changes the target of the same words.
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
        {cells.map((cell, column) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other key
          <td key={column} data-align={cell.align ?? undefined}>
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
    <section className={markdownStyles.scroll} tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other key
              <th key={at} scope="col" data-align={cell.align ?? undefined}>
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other key, and a table only grows
            <Row key={at} cells={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}
