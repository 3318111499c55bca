import { FIELDS } from "./log-scripts.js";
import { numberIn, textIn } from "./reply.js";

/** What Redis knows of a thread beside its entries. */
export interface StreamState {
  readonly boot: string;
  readonly mark: string;
  readonly head: number;
  /** Of all entries there ever were, up to `head`. */
  readonly bytes: number;
  readonly at: number;
  readonly epoch: string;
  readonly floor: number;
  readonly floorBytes: number;
  readonly folded: number;
  readonly foldedBytes: number;
}

export function parseLine(line: string): StreamState {
  const values = line.split(" ");
  if (values.length !== FIELDS.length)
    throw new TypeError("Redis holds a thread that another version wrote.");
  const [, boot, , mark, last, at, epoch, floor, floorBytes, folded, foldedBytes] = values;
  const [head, bytes] = textIn(last).split("-");
  return {
    boot: textIn(boot),
    mark: textIn(mark),
    head: numberIn(head),
    bytes: numberIn(bytes),
    at: numberIn(at),
    epoch: textIn(epoch),
    floor: numberIn(floor),
    floorBytes: numberIn(floorBytes),
    folded: numberIn(folded),
    foldedBytes: numberIn(foldedBytes),
  };
}
