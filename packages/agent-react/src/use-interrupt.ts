import type { SubmittedCommand, WireInterrupt } from "@throughline/agent-client";
import type { Json, JsonObject } from "@throughline/ai-core";
import {
  type Decision,
  dismissResponse,
  type ElicitationResponse,
  type InboxResponse,
  type Question,
  readInterruptRequest,
  respondToAction,
  respondToAgentInbox,
  respondToApproval,
  respondToApprovals,
  respondToAskUser,
  respondToElicitation,
  respondToForm,
} from "@throughline/questions";
import { useMemo } from "react";
import { useHandleFor } from "./providers.js";
import { useInterruptsFor } from "./use-thread.js";

/**
 * The open interrupt with this id, else the first one, with its response builder. An agent that raised several together continues
 * when all have a response.
 */
export function useInterrupt(interruptId?: string): AskedQuestion | undefined {
  const handle = useHandleFor("useInterrupt()");
  const interrupts = useInterruptsFor("useInterrupt()");
  const interrupt =
    interruptId === undefined ? interrupts[0] : interrupts.find(({ id }) => id === interruptId);
  return useMemo(() => {
    if (!interrupt) return undefined;
    // Another tab's response to another interrupt may be running right now: this one is queued.
    return askedQuestion(readInterrupt(interrupt), (value) =>
      handle.run({ answers: { [interrupt.id]: value } }, { kind: "queue" }),
    );
  }, [handle, interrupt]);
}

/** An interrupt request, and until when it accepts a response. */
export interface OpenInterrupt {
  readonly id: string;
  readonly question: Question;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number | undefined;
}

/** A person's input, by the kind of the request. The response is built of it in the graph's own format. */
export interface InterruptResponses {
  /** One for each call, in their order. */
  readonly approvals: readonly Decision[];
  readonly approval: Decision;
  readonly agent_inbox: InboxResponse;
  /** One for each request, in their order. */
  readonly elicitation: readonly ElicitationResponse[];
  /** One for each prompt, in their order: a text, or several of a choice. */
  readonly ask_user: readonly (string | readonly string[])[];
  /** The values of its fields. */
  readonly form: Json;
  /** The value of an option. */
  readonly options: Json;
  /** Text where the graph gave no schema. */
  readonly yes_no: boolean | string;
  readonly draft: string;
  readonly action: { readonly decision: "approve" | "reject"; readonly changed?: JsonObject };
  readonly copilotkit: string;
  readonly breakpoint: null;
  readonly other: Json;
}

type Kind = Question["kind"];

interface Asked<K extends Kind> {
  readonly id: string;
  readonly kind: K;
  readonly question: Extract<Question, { kind: K }>;
  readonly expiresAt: number | undefined;
  /** Submits the response, queued while another one is running. A response that does not fit is refused, and can be repeated. */
  answer(given: InterruptResponses[K]): SubmittedCommand;
  /** Declines to answer, in the format of the request; `undefined` where it has none. */
  readonly dismiss: (() => SubmittedCommand) | undefined;
}

/** An interrupt request with its response builder, discriminated by `kind`. */
export type AskedQuestion = { readonly [K in Kind]: Asked<K> }[Kind];

/** Reads the graph's own interrupt value; the schema that the service adds for other clients has less detail. */
export function readInterrupt(interrupt: WireInterrupt): OpenInterrupt {
  const { id, message, reason, toolCallId, expiresAt, responseSchema, metadata } = interrupt;
  const own = objectOf(metadata?.langgraph);
  const ends = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
  return {
    id,
    question: own
      ? readInterruptRequest(own.raw ?? null, objectOf(own.responseSchema), { reason, toolCallId })
      : readInterruptRequest(message ?? null, responseSchema, { reason, toolCallId }),
    expiresAt: Number.isNaN(ends) ? undefined : ends,
  };
}

export function askedQuestion(
  { id, question, expiresAt }: OpenInterrupt,
  send: (answer: Json) => SubmittedCommand,
): AskedQuestion {
  const dismissal = dismissResponse(question);

  function asked<K extends Kind>(
    kind: K,
    own: Extract<Question, { kind: K }>,
    build: (given: InterruptResponses[K]) => Json,
  ): Asked<K> {
    return {
      id,
      kind,
      question: own,
      expiresAt,
      answer: (given) => send(build(given)),
      dismiss: dismissal === undefined ? undefined : () => send(dismissal),
    };
  }

  switch (question.kind) {
    case "approvals":
      return asked(question.kind, question, (given) => respondToApprovals(question, given));
    case "approval":
      return asked(question.kind, question, (given) => respondToApproval(question, given));
    case "agent_inbox":
      return asked(question.kind, question, (given) => respondToAgentInbox(question, given));
    case "elicitation":
      return asked(question.kind, question, (given) => respondToElicitation(question, given));
    case "ask_user":
      return asked(question.kind, question, (given) => respondToAskUser(question, given));
    case "form":
      return asked(question.kind, question, (given) => respondToForm(question, given));
    case "action":
      return asked(question.kind, question, ({ decision, changed }) =>
        respondToAction(question, decision, changed),
      );
    case "options":
      return asked(question.kind, question, same);
    case "yes_no":
      return asked(question.kind, question, same);
    case "draft":
      return asked(question.kind, question, same);
    case "copilotkit":
      return asked(question.kind, question, same);
    case "breakpoint":
      return asked(question.kind, question, same);
    case "other":
      return asked(question.kind, question, same);
  }
}

const same = (given: Json) => given;

function objectOf(value: Json | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
