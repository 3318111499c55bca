import { envelopeOf } from "./ours.mjs";

const ENTRY_BYTES = 300;

/** A text whose entry is 300 bytes, beginning with `head`. */
export function textOfSize(head = "") {
  const bare = JSON.stringify(envelopeOf({ threadId: "thread-100" }, "")).length;
  return head.padEnd(ENTRY_BYTES - bare, "x");
}
