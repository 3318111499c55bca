import type { Charges } from "../../e2e/billing/rig/charge-problems.js";

/** One frame with an id, as a reader was told it or as the log has it. */
export interface Frame {
  readonly epoch: string;
  readonly seq: number;
  /** Among the frames of its entry; `WHOLE_ENTRY` behind a full prelude, which stands for everything up to there. */
  readonly n: number;
  /** Its content as JSON, keys in one order. */
  readonly text: string;
  /** Accounts whose mark is in its text. */
  readonly marks: readonly string[];
}

/** `n` of the cursor behind a full prelude (protocol 6.2). */
export const WHOLE_ENTRY = 999_999_999;

/** `envelopes`: the log itself, from its beginning after a gap. `ag-ui`: frames, with a full prelude after a gap. */
export type View = "envelopes" | "ag-ui";

export interface ViewerHistory {
  readonly name: string;
  readonly view: View;
  /** What each connection brought, in order. */
  readonly connections: readonly (readonly Frame[])[];
  /** The log's last entry when the viewer left; missing of one that stayed to the end. */
  readonly leftAt?: number | undefined;
}

export interface RunHistory {
  readonly runId: string;
  /** The client's own id. */
  readonly alias: string | null;
  readonly status: string;
}

/** One request that asked for a run, over all its repetitions. */
export interface Sent {
  readonly runId: string;
  /** In the text of the message it brought, and in no other; missing of answers and commands. */
  readonly words?: string | undefined;
  /** `unknown`: no repetition was answered. */
  readonly fate: "accepted" | "refused" | "unknown";
}

export interface PageHistory {
  readonly name: string;
  /** The conversation as the page shows it, one line a message. */
  readonly messages: readonly string[];
  /** For a reader of the history: how the page was connected, and what it waited for. */
  readonly connection?: string;
}

export interface ThreadHistory {
  readonly account: string;
  readonly agent: string;
  readonly threadId: string;
  /** Read afresh when all was calm. */
  readonly log: Readonly<Record<View, readonly Frame[]>>;
  /** Rows of the entries' table. */
  readonly stored: number;
  /** The conversation as a stock client shows the log, and as the checkpoint holds it: one line a message. */
  readonly shown: readonly string[];
  readonly held: readonly string[];
  readonly runs: readonly RunHistory[];
  readonly sent: readonly Sent[];
  readonly viewers: readonly ViewerHistory[];
  readonly pages: readonly PageHistory[];
  /** What the graph writes down of each mutation that was accepted, and all that it has written down, one line a mutation. */
  readonly mutations: { readonly accepted: readonly string[]; readonly applied: readonly string[] };
}

export interface History {
  readonly threads: readonly ThreadHistory[];
  /** Missing where no LiteLLM ran. */
  readonly charges?: Charges | undefined;
  /** Deeds that were still under way when all was calm, in words. */
  readonly unfinished: readonly { readonly thread: string; readonly words: string }[];
  /** Answers to requests for another tenant's thread that were more than a refusal. */
  readonly trespasses: readonly { readonly thread: string; readonly words: string }[];
}

export type FindingKind =
  | "lost"
  | "doubled"
  | "disordered"
  | "altered"
  | "hung"
  | "stuck"
  | "wrongCharge"
  | "foreign"
  | "disagreement";

export interface Finding {
  readonly kind: FindingKind;
  /** `account/agent/thread`; empty where no thread is concerned. */
  readonly thread: string;
  readonly words: string;
}

export const threadLabel = ({
  account,
  agent,
  threadId,
}: Pick<ThreadHistory, "account" | "agent" | "threadId">): string => `${account}/${agent}/${threadId}`;
