import type { Json, JsonObject, Message } from "@throughline/ai-core";

/** What a client sent, before it is measured against what the thread holds. */
export type RunInput =
  /**
   * The client's whole history and state. R26: only messages the thread does not hold go to the graph, and of `state` only
   * keys of the graph's input schema; a changed text under a known id is `invalid_input`.
   */
  | {
      readonly kind: "input";
      readonly messages: readonly Message[];
      readonly state?: JsonObject;
      /** They were sent before and stored nowhere, though the thread may show them: all of them go to the graph. */
      readonly isAgain?: boolean;
    }
  /** Answers by interrupt id. None at all: asks again what an answer made fail, or goes on past a breakpoint. */
  | { readonly kind: "resume"; readonly answers: Readonly<Record<string, Json>> }
  /** The legacy form, which names no interrupt: it answers the one that is open. */
  | { readonly kind: "answer"; readonly value: Json }
  /** Runs again from a checkpoint of the past, with these messages added to it. */
  | { readonly kind: "fork"; readonly checkpointId: string; readonly messages: readonly Message[] };
