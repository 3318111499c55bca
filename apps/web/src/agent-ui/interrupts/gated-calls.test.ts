import type { ThreadMessage } from "@throughline/agent-client";
import { readInterruptRequest } from "@throughline/questions";
import { expect, it } from "vitest";
import { isApprovable } from "./approval-rows";
import { matchToolCalls } from "./thread-interrupts";

const call = (id: string, name: string, args: object) => ({ id, name, args: JSON.stringify(args) });
const MESSAGES: readonly ThreadMessage[] = [
  { id: "a1", role: "assistant", content: "", toolCalls: [call("old", "pay", { to: "Ann", amount: 3 })] },
  { id: "r1", role: "tool", toolCallId: "old", content: "paid" },
  {
    id: "a2",
    role: "assistant",
    content: "",
    toolCalls: [
      call("c1", "pay", { to: "Ann", amount: 3 }),
      call("c2", "look", {}),
      call("c3", "pay", { to: "Ann", amount: 3 }),
    ],
  },
];

function gatedBy(value: object) {
  const question = readInterruptRequest(JSON.parse(JSON.stringify(value)), undefined);
  return isApprovable(question) ? matchToolCalls(question, MESSAGES) : undefined;
}

it("finds each call among those without a result, whatever the order of its arguments, and takes none twice", () => {
  const pay = { name: "pay", args: { amount: 3, to: "Ann" } };
  const tell = { name: "tell", args: {} };
  expect(gatedBy({ action_requests: [pay, tell, pay], review_configs: [] })).toEqual(["c1", undefined, "c3"]);
});

it("takes a question's own word for its call", () => {
  expect(gatedBy({ type: "tool_approval", tool_call_id: "c2", name: "look", args: {} })).toEqual(["c2"]);
});
