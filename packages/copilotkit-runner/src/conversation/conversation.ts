import type { Json } from "@throughline/ai-core";
import type { AgUiEvent, AgUiMessage } from "../events/ag-ui-event.js";

export interface ConversationRun {
  /** The client's id of the run, which its events carry. */
  readonly runId: string;
  readonly open: boolean;
  /** The event that ended it. */
  readonly terminal: AgUiEvent | null;
}

/** What a client that has applied every event of the thread holds, and what it takes to tell another client. Plain JSON. */
export interface Conversation {
  /** The open run, or the last one. */
  readonly run: ConversationRun | null;
  readonly state: Json;
  readonly messages: readonly AgUiMessage[];
  /** START events without an END. */
  readonly open: readonly AgUiEvent[];
  /** `CUSTOM on_interrupt` events of the last run: its questions, in the form that came before outcomes. */
  readonly questions: readonly AgUiEvent[];
}

export const emptyConversation: Conversation = {
  run: null,
  state: {},
  messages: [],
  open: [],
  questions: [],
};
