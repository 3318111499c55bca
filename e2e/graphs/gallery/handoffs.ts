import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Annotation, Command, END, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { z } from "zod";
import { inTurn, ScriptedModel, sayer } from "./scripted-model.js";

const Messages = MessagesAnnotation;
type State = typeof Messages.State;

/** A node that answers and routes in one `Command`. */
export const commandUpdate = new StateGraph(Messages)
  .addNode(
    "route",
    () => new Command({ goto: "answer", update: { messages: [new AIMessage("Routed to sales.")] } }),
    { ends: ["answer"] },
  )
  .addNode("answer", async ({ messages }: State) => ({
    messages: [await sayer("Sales here.").invoke(messages)],
  }))
  .addEdge(START, "route")
  .addEdge("answer", END)
  .compile();

/** A supervisor that hands work to two workers and ends. */
export const supervisor = new StateGraph(Messages)
  .addNode(
    "supervisor",
    ({ messages }: State) => {
      const done = messages.filter(({ name }) => name === "poet" || name === "critic").length;
      const goto = ["poet", "critic"][done] ?? END;
      const update = { messages: [new AIMessage({ content: `Next: ${goto}.`, name: "supervisor" })] };
      return new Command({ goto, update });
    },
    { ends: ["poet", "critic", END] },
  )
  .addNode("poet", worker("poet", "Roses are red."), { ends: ["supervisor"] })
  .addNode("critic", worker("critic", "They are indeed."), { ends: ["supervisor"] })
  .addEdge(START, "supervisor")
  .compile();

function worker(name: string, text: string) {
  return async ({ messages }: State) => {
    const reply = await sayer(text).invoke(messages);
    return new Command({
      goto: "supervisor",
      update: { messages: [new HumanMessage({ content: reply.text, name })] },
    });
  };
}

const toHelper = tool(
  async (_: unknown, config: { toolCall?: { id?: string } }) =>
    new Command({
      goto: "helper",
      graph: Command.PARENT,
      update: {
        active: "helper",
        messages: [
          new ToolMessage({
            content: "Handed over to helper.",
            tool_call_id: config.toolCall?.id ?? "",
            name: "to_helper",
          }),
        ],
      },
    }),
  { name: "to_helper", description: "Hands over.", schema: z.object({}) },
);

const Swarm = Annotation.Root({ ...Messages.spec, active: Annotation<string> });

/** Two agents that hand over with a `Command` to their parent, and go on where the last turn ended. */
export const swarm = new StateGraph(Swarm)
  .addNode(
    "front",
    createAgent({
      name: "front",
      model: new ScriptedModel(inTurn({ calls: [{ name: "to_helper", args: {}, id: "call_hand" }] })),
      tools: [toHelper],
    }).graph,
    { ends: ["helper"] },
  )
  .addNode("helper", createAgent({ name: "helper", model: sayer("The helper helps."), tools: [] }).graph)
  .addConditionalEdges(START, ({ active }) => active ?? "front", ["front", "helper"])
  .addEdge("helper", END)
  .compile();

const Inner = new StateGraph(Messages)
  .addNode(
    "leave",
    () =>
      new Command({
        goto: "after",
        graph: Command.PARENT,
        update: { messages: [new AIMessage("I leave the subgraph.")] },
      }),
  )
  .addEdge(START, "leave")
  .compile();

export const commandParent = new StateGraph(Messages)
  .addNode("inner", Inner, { ends: ["after"] })
  .addNode("after", () => ({ messages: [new AIMessage("After it.")] }))
  .addEdge(START, "inner")
  .addEdge("after", END)
  .compile();

const Fan = Annotation.Root({
  ...Messages.spec,
  items: Annotation<number[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});

function fanOut(width: number) {
  return new StateGraph(Fan)
    .addNode("work", ({ item }: { item: number }) => ({ items: [item * item] }))
    .addNode("gather", ({ items }: typeof Fan.State) => ({
      messages: [new AIMessage({ id: "sum", content: `Sum ${items.reduce((sum, one) => sum + one, 0)}.` })],
    }))
    .addConditionalEdges(
      START,
      () => Array.from({ length: width }, (_, item) => new Send("work", { item })),
      ["work"],
    )
    .addEdge("work", "gather")
    .addEdge("gather", END)
    .compile();
}
export const send1 = fanOut(1);
export const send20 = fanOut(20);
export const send200 = fanOut(200);

/** A fan-out whose workers each call a model. */
export const sendModels = new StateGraph(Fan)
  .addNode("work", async ({ item }: { item: number }) => ({
    messages: [await sayer(`Part ${item}.`).invoke("go")],
  }))
  .addConditionalEdges(START, () => [1, 2, 3].map((item) => new Send("work", { item })), ["work"])
  .addEdge("work", END)
  .compile();

export const deferred = new StateGraph(Fan)
  .addNode("short", () => ({ items: [1] }))
  .addNode("long", () => ({ items: [2] }))
  .addNode("longer", () => ({ items: [3] }))
  .addNode("last", ({ items }: typeof Fan.State) => ({ messages: [new AIMessage(`Got ${items.join()}.`)] }), {
    defer: true,
  })
  .addEdge(START, "short")
  .addEdge(START, "long")
  .addEdge("long", "longer")
  .addEdge("short", "last")
  .addEdge("longer", "last")
  .addEdge("last", END)
  .compile();
