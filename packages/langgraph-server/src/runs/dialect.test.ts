import type { Dialect, LogEntry } from "@throughline/ai-core";
import { graphRegistry } from "@throughline/graph-executor";
import { describeGraph, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";
import { applyEntry, currentMessages, emptyThreadProjection } from "@throughline/reading";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openServiceScene, type ServiceScene, userMessage } from "../testing/service-scene.js";
import type { RunInput } from "../threads/run-spec.js";

const say = (text: string): RunInput => ({ kind: "input", messages: [userMessage(text)] });

/** What to do with each graph, and how its last run ends. */
const STORIES: readonly (readonly [string, string, readonly RunInput[]])[] = [
  ["poet", "success", [say("A poem about rain"), say("Another one")]],
  ["chat", "success", [say("What is 6 * 7 and what is the time in Paris?")]],
  ["ponderer", "success", [say("Why is the sky blue?")]],
  ["researcher", "success", [say("Research how lighthouses changed shipping.")]],
  ["travel", "interrupted", [say("Plan a trip from Amsterdam to San Francisco")]],
  ["travel", "interrupted", [say("Plan a trip to San Francisco"), { kind: "answer", value: "KLM" }]],
  ["breaker", "error", [say("A poem about rain")]],
];

/** The catalog, and a poet whose model fails after a few words. */
const keys = envKeyResolver({});
const graphs = LANGGRAPH_CATALOG.flatMap((definition) => {
  const descriptor = describeGraph(definition);
  const create = () => definition.create({ keys });
  if (definition.graphName !== "poet") return [{ descriptor, create }];
  const breaker = { ...descriptor, graphName: "breaker", graphId: "langgraph:breaker" };
  const failing = { configurable: { offline: { failAfterTokens: 5 } } };
  return [
    { descriptor, create },
    { descriptor: breaker, create: () => create().withConfig(failing) },
  ];
});

let scene: ServiceScene;
beforeAll(async () => {
  scene = await openServiceScene({ graphs: graphRegistry(graphs) });
});
afterAll(() => scene?.close());

/** The log of a thread in which all this was said. */
async function logOf(graphName: string, story: readonly RunInput[], dialect: Dialect) {
  const thread = scene.thread(graphName);
  for (const input of story) await scene.run(thread, input, { dialect });
  const page = await scene.service.log.read(thread.ref, undefined, 10_000);
  if (page.kind !== "entries") throw new Error(`The log can't be read: ${page.kind}.`);
  const rows = await scene.service.registry.list(thread.ref, 10);
  expect(new Set(rows.map(({ request }) => request.dialect))).toEqual(new Set([dialect]));
  return page.entries;
}

/** What people see, without what differs between any two runs. Results of parallel calls come in any order. */
function seen(entries: readonly LogEntry[]) {
  const fold = entries.reduce(applyEntry, emptyThreadProjection);
  const messages = currentMessages(fold).map(({ role, content, reasoning, tool_calls, status }) => ({
    role,
    content,
    reasoning,
    status,
    calls: tool_calls?.map(({ name, args }) => ({ name, args })),
  }));
  return withoutTimes({
    messages: messages.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    state: fold.state,
    questions: fold.interrupts.map(({ node, value }) => ({ node, value })),
  });
}

function withoutTimes(value: object): unknown {
  return JSON.parse(JSON.stringify(value).replace(/\d\d:\d\d(:\d\d(\.\d+)?)?/g, "a time"));
}

const corrections = (entries: readonly LogEntry[]) =>
  entries.filter(({ envelope: { type, payload } }) =>
    type === "state_snapshot" ? payload.messages || payload.changed_messages : type === "retract",
  );

it.each(["modes", "events"] as const)(
  "A subgraph's end has the further results that its graph publishes (%s)",
  async (dialect) => {
    const story: RunInput[] = [say("Plan a trip to San Francisco"), { kind: "answer", value: "KLM" }];
    const ends = (await logOf("travel", story, dialect)).flatMap(({ envelope: { type, payload } }) =>
      type === "tool_end" && payload.tool_name === "flights_agent" && payload.status === "ok"
        ? [payload.result]
        : [],
    );
    expect(ends).toMatchObject([
      { messages: [{ role: "assistant" }], files: [], output: { itinerary: { flight: { airline: "KLM" } } } },
    ]);
  },
);

describe("A run read from events", () => {
  it.each(STORIES)(
    "shows of %s what one read from stream modes does (%s)",
    async (graphName, status, story) => {
      const inModes = await logOf(graphName, story, "modes");
      const inEvents = await logOf(graphName, story, "events");
      for (const entries of [inModes, inEvents]) {
        expect(entries.at(-1)?.envelope).toMatchObject({ type: "run_end", payload: { status } });
        // What was streamed is right already: only what a failed run had begun to say is taken back.
        expect(corrections(entries)).toHaveLength(status === "error" ? 1 : 0);
      }
      expect(seen(inEvents)).toEqual(seen(inModes));
      expect(scene.failures).toEqual([]);
    },
  );
});
