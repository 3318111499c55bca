/**
 * Where words occur in what is drawn, in the order of the page. Case and accents count for nothing; words may reach from one
 * element into the next, as where a part of them is bold.
 */
export function findRanges(roots: Iterable<Node>, words: string): Range[] {
  const wanted = fold(words.trim());
  return wanted === "" ? [] : [...roots].flatMap((root) => rangesIn(root, wanted));
}

interface Piece {
  readonly node: Text;
  /** Where it begins in the text of the whole. */
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
  const folded = fold(text);
  // Letters that fold to more or fewer would put the marks beside the words: then only case is left out of account.
  const searched = folded.length === text.length ? folded : text.toLowerCase();
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

function fold(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
}
