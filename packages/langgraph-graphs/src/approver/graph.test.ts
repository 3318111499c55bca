import { Command, MemorySaver } from "@langchain/langgraph";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { RunnableGraph } from "../shared.js";
import { approverDefinition } from "./graph.js";

const config = { configurable: { thread_id: "orders", offline: { paceMs: 0 } } };
const questionSchema = z.object({
  id: z.string(),
  value: z.object({
    actionRequests: z.array(z.object({ name: z.string(), args: z.record(z.string(), z.unknown()) })),
    reviewConfigs: z.array(z.object({ actionName: z.string(), allowedDecisions: z.array(z.string()) })),
  }),
});
const stateSchema = z.object({ messages: z.array(z.object({ type: z.string(), content: z.string() })) });

let graph: RunnableGraph;
beforeEach(() => {
  const keys = { resolveKey: () => Promise.reject(new Error("The offline model needs no key.")) };
  graph = approverDefinition.create({ keys, checkpointer: new MemorySaver() });
});

const say = (content: string) => graph.invoke({ messages: [{ role: "user", content }] }, config);

async function question() {
  const { tasks } = await graph.getState(config);
  return questionSchema.parse(tasks.flatMap(({ interrupts }) => interrupts)[0]);
}

async function decide(...types: readonly string[]): Promise<unknown> {
  const { id } = await question();
  return graph.invoke(
    new Command({ resume: { [id]: { decisions: types.map((type) => ({ type })) } } }),
    config,
  );
}

const lastText = (state: unknown) => stateSchema.parse(state).messages.at(-1)?.content;

describe("the approver", () => {
  it("reads freely, then asks for both gated calls at once, each with its own policy", async () => {
    await say("Settle order 77");
    const { value } = await question();
    expect(value.actionRequests.map(({ name }) => name)).toEqual(["refund_order", "send_email"]);
    expect(value.reviewConfigs.map(({ allowedDecisions }) => allowedDecisions)).toEqual([
      ["approve", "edit", "reject"],
      ["approve", "reject"],
    ]);
  });

  it("has its clerk ask, too, and ends with what became of everything", async () => {
    await say("Settle order 77");
    await decide("approve", "approve");
    expect((await question()).value.actionRequests).toMatchObject([
      { name: "file_record", args: { title: "order 77" } },
    ]);
    const done = await decide("approve");
    expect(approverDefinition.outputSchema.safeParse(done)).toMatchObject({ success: true });
    for (const told of ["Refunded 49 EUR", "Sent", "Filed"]) expect(lastText(done)).toContain(told);
  });

  it("does nothing that was rejected", async () => {
    await say("Refund order 77");
    expect(lastText(await decide("reject"))).toContain("rejected the tool call");
  });
});
