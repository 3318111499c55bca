import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";
import type { OfflinePart, OfflineScript } from "@throughline/langgraph-models";

/** The actions that the words of a request name; all of them, where they name an order and no action. */
function requestedActions(text: string) {
  const refund = /refund|pay back/i.test(text);
  const email = /mail/i.test(text);
  const record = /file|record/i.test(text);
  const isOpen = !refund && !email && !record;
  return { refund: refund || isOpen, email: email || isOpen, record: record || isOpen };
}

const IS_FOR_US = /refund|pay back|mail|file|record|order|customer|\b\d{2,}\b/i;
const WHAT_I_DO =
  "I am the offline model, and my script knows orders only. Ask me to refund an order, to write its customer an email, or to file a record of it.";

/** Reads the order, requests the gated tools in one message, then has the clerk file a record. */
export const approverScript: OfflineScript = ({ messages, lastUserText }) => {
  if (!IS_FOR_US.test(lastUserText)) return [text(WHAT_I_DO)];
  const requested = requestedActions(lastUserText);
  const order = /\b\d{2,}\b/.exec(lastUserText)?.[0] ?? "1042";
  const turn = sinceRequest(messages);
  const outcomes = turn.filter((message) => ToolMessage.isInstance(message));
  const hasCalled = (name: string) => callsIn(turn).some((made) => made.name === name);
  const isRefused = outcomes.some(({ status }) => status === "error");
  if (!hasCalled("look_up_order")) {
    return [text("I will look at the order first."), call("look_up_order", { order })];
  }
  const gated = [
    ...(requested.refund ? [call("refund_order", { order, amount: 49 })] : []),
    ...(requested.email ? [call("send_email", emailFor(order))] : []),
  ];
  if (gated.length > 0 && outcomes.length < 2) return gated;
  if (requested.record && !isRefused && !hasCalled("task")) {
    return [call("task", { subagent_type: "clerk", description: `File a record of order ${order}.` })];
  }
  const results = outcomes.slice(1).map((message) => message.text);
  return [text(["Here is what became of it:", ...results.map((line) => `- ${line}`)].join("\n"))];
};

export const clerkScript: OfflineScript = ({ messages, lastUserText }) => {
  const done = sinceRequest(messages).findLast((message) => ToolMessage.isInstance(message));
  if (done) return [text(done.text)];
  return [call("file_record", { title: lastUserText.replace(/^File a record of /, "").replace(/\.$/, "") })];
};

function emailFor(order: string) {
  return {
    to: "ada@example.com",
    subject: `Your order ${order}`,
    body: "We have refunded the desk lamp. Sorry for the trouble.",
  };
}

function text(content: string): OfflinePart {
  return { kind: "text", text: content };
}

function call(name: string, args: Readonly<Record<string, unknown>>): OfflinePart {
  return { kind: "toolCall", name, args };
}

function sinceRequest(messages: readonly BaseMessage[]): readonly BaseMessage[] {
  return messages.slice(messages.findLastIndex((message) => HumanMessage.isInstance(message)) + 1);
}

function callsIn(turn: readonly BaseMessage[]) {
  return turn.flatMap((message) =>
    AIMessage.isInstance(message) || AIMessageChunk.isInstance(message) ? (message.tool_calls ?? []) : [],
  );
}
