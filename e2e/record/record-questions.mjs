// node e2e/record/record-questions.mjs: what real graphs pass to interrupt(), for the tests of packages/questions.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AIMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";
import { createAgent, humanInTheLoopMiddleware, tool } from "langchain";
import { z } from "zod";

const target = resolve(dirname(fileURLToPath(import.meta.url)), "../../packages/questions/fixtures");
const inThread = (thread_id) => ({ configurable: { thread_id, offline: { paceMs: 0 } } });

/** Calls both of its tools in one message, then says that it is done. */
class CallingModel extends FakeListChatModel {
  bindTools() {
    return this;
  }
  async invoke(messages) {
    if (messages.at(-1)?.getType() === "tool") return new AIMessage("Done.");
    const call = (id, name, args) => ({ type: "tool_call", id, name, args });
    return new AIMessage({
      content: "",
      tool_calls: [call("c1", "pay", { to: "ada", amount: 3 }), call("c2", "tell", { text: "Paid." })],
    });
  }
}

const pay = tool(({ to }) => `paid ${to}`, {
  name: "pay",
  description: "Pays.",
  schema: z.object({ to: z.string(), amount: z.number() }),
});
const tell = tool(({ text }) => text, {
  name: "tell",
  description: "Tells.",
  schema: z.object({ text: z.string() }),
});

/** The open question of a graph, without its id, which is another one each time. */
async function questionOf(graph, config) {
  const { tasks } = await graph.getState(config);
  const [{ value, response_schema }] = tasks.flatMap(({ interrupts }) => interrupts);
  return JSON.parse(JSON.stringify({ value, response_schema }));
}

/** What became of an answer: the error it was thrown as, or nothing. */
async function answered(graph, config, answer) {
  const { tasks } = await graph.getState(config);
  const [{ id }] = tasks.flatMap(({ interrupts }) => interrupts);
  try {
    await graph.invoke(new Command({ resume: { [id]: answer } }), config);
    return null;
  } catch (error) {
    return error.message.split("\n")[0];
  }
}

function middlewareAgent() {
  const { graph } = createAgent({
    model: new CallingModel({ responses: [] }),
    tools: [pay, tell],
    middleware: [
      humanInTheLoopMiddleware({
        interruptOn: {
          pay: { allowedDecisions: ["approve", "edit"], argsSchema: { type: "object" } },
          tell: true,
        },
      }),
    ],
    checkpointer: new MemorySaver(),
  });
  return graph;
}

async function recordMiddleware() {
  const say = { messages: [{ role: "user", content: "go" }] };
  const graph = middlewareAgent();
  await graph.invoke(say, inThread("asked"));
  const approve = { type: "approve" };
  const action = { name: "pay", args: { to: "bob", amount: 1 } };
  const answers = [
    { decisions: [approve, approve] },
    {
      decisions: [
        { type: "edit", editedAction: action },
        { type: "reject", message: "no" },
      ],
    },
    { decisions: [approve] },
    { decisions: [{ type: "reject" }, approve] },
    { decisions: [approve, { type: "respond", message: "hi" }] },
    { decisions: [{ type: "edit", edited_action: action }, approve] },
    { decisions: [{ type: "edit", editedAction: { name: "pay" } }, approve] },
    { decisions: [approve, { type: "switch_manual" }] },
    { approved: true },
    "yes",
  ];
  const outcomes = [];
  for (const [index, answer] of answers.entries()) {
    const config = inThread(`answer ${index}`);
    await graph.invoke(say, config);
    outcomes.push({ answer, thrown: await answered(graph, config, answer) });
  }
  return { ...(await questionOf(graph, inThread("asked"))), answers: outcomes };
}

async function recordApprover() {
  const definition = LANGGRAPH_CATALOG.find(({ graphName }) => graphName === "approver");
  const graph = definition.create({ keys: envKeyResolver({}), checkpointer: new MemorySaver() });
  const config = inThread("approver");
  await graph.invoke({ messages: [{ role: "user", content: "Settle order 77" }] }, config);
  const own = await questionOf(graph, config);
  await answered(graph, config, { decisions: [{ type: "approve" }, { type: "approve" }] });
  return { own, subagent: await questionOf(graph, config) };
}

async function recordSchema() {
  const State = Annotation.Root({ answer: Annotation() });
  const responseSchema = z.object({
    size: z.enum(["s", "m"]),
    count: z.number().int().default(1),
    note: z.string().nullable().optional(),
  });
  const graph = new StateGraph(State)
    .addNode("ask", () => ({ answer: interrupt({ question: "Which size?" }, { responseSchema }) }))
    .addEdge(START, "ask")
    .compile({ checkpointer: new MemorySaver() });
  const answers = [];
  for (const answer of [{ size: "s", count: 2 }, { size: "xl", count: 2 }, { count: 2 }, "s"]) {
    const config = inThread(JSON.stringify(answer));
    await graph.invoke({}, config);
    answers.push({ answer, thrown: (await answered(graph, config, answer)) === null ? null : "refused" });
  }
  await graph.invoke({}, inThread("asked"));
  return { ...(await questionOf(graph, inThread("asked"))), answers };
}

mkdirSync(target, { recursive: true });
const recordings = {
  "human-in-the-loop": await recordMiddleware(),
  "interrupt-on": await recordApprover(),
  "response-schema": await recordSchema(),
};
for (const [name, recording] of Object.entries(recordings)) {
  writeFileSync(join(target, `${name}.json`), `${JSON.stringify(recording, undefined, 2)}\n`);
}
