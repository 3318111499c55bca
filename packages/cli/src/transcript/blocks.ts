import { printable, type Span, type Tone } from "../terminal/terminal.js";

/** A node or subgraph that a line belongs to. A path lists the outermost first. */
export interface PathStep {
  readonly callId: string;
  readonly name: string;
}

interface Block {
  readonly key: string;
  readonly path: readonly PathStep[];
  readonly waiting: readonly Span[];
  readonly isOpen: boolean;
  readonly hasBegun: boolean;
  /** Its last text ended a line. */
  readonly isAtStart: boolean;
  /** Its last line stays open: more text may follow. */
  readonly isHeld: boolean;
}

/**
 * Texts that stream at the same time, in separate blocks: the oldest open block is live, the others wait and then catch up. A
 * block is headed by the names of the nodes it is in, where they differ from those printed above it already.
 */
export interface Lines {
  readonly blocks: readonly Block[];
  readonly path: readonly PathStep[];
  readonly held: string | undefined;
}

export const NO_LINES: Lines = { blocks: [], path: [], held: undefined };

const NEW_LINE: Span = { tone: "plain", text: "\n" };

function hasBlock({ blocks }: Lines, key: string): boolean {
  return blocks.some((block) => block.key === key);
}

export function openBlock(lines: Lines, key: string, path: readonly PathStep[]): Lines {
  const block = { key, path, waiting: [], isOpen: true, hasBegun: false, isAtStart: false, isHeld: false };
  return hasBlock(lines, key) ? lines : { ...lines, blocks: [...lines.blocks, block] };
}

export function appendText(lines: Lines, key: string, tone: Tone, text: string): Lines {
  return change(lines, key, (block) => ({ ...block, waiting: [...block.waiting, { tone, text }] }));
}

export function closeBlock(lines: Lines, key: string, { isHeld = false } = {}): Lines {
  return change(lines, key, (block) => ({ ...block, isOpen: false, isHeld }));
}

export function closeAll(lines: Lines): Lines {
  return { ...lines, blocks: lines.blocks.map((block) => ({ ...block, isOpen: false })) };
}

/** Appends a block of one line, which is printed in turn. */
export function addLine(lines: Lines, path: readonly PathStep[], ...spans: readonly Span[]): Lines {
  const block = {
    key: "",
    path,
    waiting: spans,
    isOpen: false,
    hasBegun: false,
    isAtStart: false,
    isHeld: false,
  };
  return { ...lines, blocks: [...lines.blocks, block] };
}

/** Takes the spans that may be printed now. Its cost grows with what is printed and what is open, never with the history. */
export function flush(lines: Lines): readonly [lines: Lines, spans: readonly Span[]] {
  const spans: Span[] = [];
  const blocks = [...lines.blocks];
  let { path, held } = lines;
  for (let first = blocks[0]; first; first = blocks[0]) {
    if (first.waiting.length > 0) {
      const goesOn = first.hasBegun || held === first.key;
      if (!goesOn) {
        if (held !== undefined) spans.push(NEW_LINE);
        spans.push(...headings(path, first.path));
        path = first.path;
      }
      held = undefined;
      const isAtStart = first.hasBegun ? first.isAtStart : !goesOn;
      const shown = indented(first.waiting, first.path.length, isAtStart);
      spans.push(...shown.spans);
      first = { ...first, waiting: [], hasBegun: true, isAtStart: shown.isAtStart };
      blocks[0] = first;
    }
    if (first.isOpen) break;
    blocks.shift();
    if (first.hasBegun && first.isHeld) held = first.key;
    else if (first.hasBegun && !first.isAtStart) spans.push(NEW_LINE);
  }
  return [{ blocks, path, held }, spans];
}

/** Indents every line but an empty one. */
function indented(
  waiting: readonly Span[],
  depth: number,
  startsLine: boolean,
): { readonly spans: readonly Span[]; readonly isAtStart: boolean } {
  let isAtStart = startsLine;
  const spans = waiting.map(({ tone, text }): Span => {
    const parts = printable(text).split("\n");
    const moved = parts.map((part, index) => {
      if (index > 0) isAtStart = true;
      if (part === "") return "";
      const space = isAtStart ? "  ".repeat(depth) : "";
      isAtStart = false;
      return space + part;
    });
    return { tone, text: moved.join("\n") };
  });
  return { spans, isAtStart };
}

/** Ends the line that is being written, for a note of its own; text that continues is indented again. */
export function breakLine(lines: Lines): readonly [lines: Lines, spans: readonly Span[]] {
  const [first, ...rest] = lines.blocks;
  if (!first?.hasBegun || first.isAtStart) return endHeldLine(lines);
  return [{ ...lines, blocks: [{ ...first, isAtStart: true }, ...rest] }, [NEW_LINE]];
}

/** Ends the line that was left open. */
export function endHeldLine(lines: Lines): readonly [lines: Lines, spans: readonly Span[]] {
  return lines.held === undefined ? [lines, []] : [{ ...lines, held: undefined }, [NEW_LINE]];
}

function change(lines: Lines, key: string, to: (block: Block) => Block): Lines {
  return { ...lines, blocks: lines.blocks.map((block) => (block.key === key ? to(block) : block)) };
}

function headings(from: readonly PathStep[], to: readonly PathStep[]): Span[] {
  const shared = to.findIndex((step, depth) => step.callId !== from[depth]?.callId);
  if (shared < 0) return [];
  return to
    .slice(shared)
    .flatMap((step, below) => [
      { tone: "strong", text: `${"  ".repeat(shared + below)}▸ ${printable(step.name)}` },
      NEW_LINE,
    ]);
}
