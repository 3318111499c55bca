import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as work } from "node:timers/promises";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import type { RunnableGraph } from "@throughline/graph-executor";
import { OfflineChatModel, type OfflinePart } from "@throughline/langgraph-models";

export interface WorkshopOptions {
  /** Where each thread's tool calls leave their marks, a line each: what a real tool would have done to the world. */
  readonly folder: string;
  /** Milliseconds between tokens. */
  readonly paceMs: number;
  /** How long a tool works after it left its mark. */
  readonly toolMs: number;
}

/** Of every call of a tool, in order: its id. */
export function readMarks(folder: string, threadId: string): readonly string[] {
  const file = marksFile(folder, threadId);
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

const marksFile = (folder: string, threadId: string) => join(folder, `${threadId}.marks`);

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  answers: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});

/** Everything a takeover can get wrong in one graph: parallel nodes, two calls in one of them, tools in a subgraph, a graph nested in that, a question, last words. */
export function createWorkshop({ folder, paceMs, toolMs }: WorkshopOptions): RunnableGraph {
  /** Under an id that is new with every call, as providers' ids are. */
  async function speak(parts: readonly OfflinePart[], config: LangGraphRunnableConfig) {
    const model = new OfflineChatModel({ script: () => [...parts], paceMs, callSite: randomUUID() });
    return model.invoke([{ role: "user", content: "Speak." }], config);
  }
  const say =
    (...texts: readonly string[]) =>
    async (_: unknown, config: LangGraphRunnableConfig) => {
      const messages = [];
      for (const text of texts) messages.push(await speak([{ kind: "text", text }], config));
      return { messages };
    };

  const forge = tool(
    async (piece: unknown, config) => {
      appendFileSync(marksFile(folder, String(config.configurable?.thread_id)), `${config.toolCall?.id}\n`);
      await work(toolMs);
      return `forged ${JSON.stringify(piece)}`;
    },
    {
      name: "forge",
      description: "Forges a piece.",
      schema: { type: "object", properties: { piece: { type: "string" } }, required: ["piece"] },
    },
  );

  const plan = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
    const isForged = messages.at(-1)?.getType() === "tool";
    const parts: OfflinePart[] = isForged
      ? [{ kind: "text", text: "nail and hinge are forged" }]
      : ["nail", "hinge"].map((piece) => ({ kind: "toolCall", name: "forge", args: { piece } }));
    return { messages: [await speak(parts, config)] };
  };

  const polishing = new StateGraph(MessagesAnnotation)
    .addNode("rub", say("rubbed it"))
    .addNode("shine", say("it shines"))
    .addEdge(START, "rub")
    .addEdge("rub", "shine")
    .addEdge("shine", END)
    .compile({ name: "polishing" });

  const smithy = new StateGraph(MessagesAnnotation)
    .addNode("plan", plan)
    .addNode("tools", new ToolNode([forge]))
    .addNode("polishing", polishing)
    .addEdge(START, "plan")
    .addConditionalEdges("plan", (state) => (wantsTools(state) ? "tools" : "polishing"), [
      "tools",
      "polishing",
    ])
    .addEdge("tools", "plan")
    .addEdge("polishing", END)
    .compile({ name: "smithy" });

  return new StateGraph(State)
    .addNode("painter", say("paint is on the door"))
    .addNode("joiner", say("cut the frame", "glued the frame"))
    .addNode("smithy", smithy)
    .addNode("ask", () => ({ answers: [JSON.stringify(interrupt({ question: "Which handle?" }))] }))
    .addNode("mount", say("the handle is on"))
    .addNode("hang", say("the door hangs and closes"))
    .addEdge(START, "painter")
    .addEdge(START, "joiner")
    .addEdge(START, "smithy")
    .addEdge(["painter", "joiner", "smithy"], "ask")
    .addEdge("ask", "mount")
    .addEdge("mount", "hang")
    .addEdge("hang", END)
    .compile({ name: "workshop" });
}

function wantsTools({ messages }: typeof MessagesAnnotation.State): boolean {
  const last = messages.at(-1);
  const isModels = AIMessage.isInstance(last) || AIMessageChunk.isInstance(last);
  return isModels && (last.tool_calls?.length ?? 0) > 0;
}
