import type { Envelope } from "./envelope.js";

/** R3: assigned by the log. Order within an epoch is order of `seq`; another epoch means the log was lost or deleted. */
export interface LogPosition {
  readonly epoch: string;
  readonly seq: number;
}

export interface LogEntry extends LogPosition {
  readonly envelope: Envelope;
}
