import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  readEvents,
  type SseEvent,
  typesOf,
} from "../../packages/langgraph-server/src/testing/sse-events.js";
import { shownMessages } from "./follower.js";
import { said } from "./rig/agent-routes.js";
import { type Instance, setUpstreamStage, type UpstreamStage, upstreamThreadId } from "./upstream-stage.js";

const say = (text: string) => ({ messages: [said(randomUUID(), text)] });
const answer = (resume: string) => ({ messages: [], forwardedProps: { command: { resume } } });

/** What to do with each graph, request by request. */
const STORIES: readonly (readonly [
  string,
  readonly { readonly messages: readonly object[]; readonly forwardedProps?: object }[],
])[] = [
  ["poet", [say("Rain"), say("Snow")]],
  ["chat", [say("What is 6 * 7 and what is 1 / (2 - 2)?")]],
  ["researcher", [say("Storms")]],
  ["travel", [say("from Amsterdam to San Francisco"), answer("KLM"), answer("Hotel Zephyr")]],
];

let stage: UpstreamStage;
let instance: Instance;
beforeAll(async () => {
  stage = await setUpstreamStage({ paceMs: 0 });
  instance = await stage.start(await stage.createDatabase());
});
afterAll(() => stage?.stop());

/** Shapes of messages and questions, without the ids that differ between any two runs. */
async function seenIn(agent: string, story: (typeof STORIES)[number][1], dialect: "modes" | "events") {
  const threadId = `thread ${randomUUID()}`;
  const connections: (readonly SseEvent[])[] = [];
  for (const request of story) {
    const forwardedProps = { ...request.forwardedProps, throughline: { dialect } };
    const events = await readEvents(
      await instance.routes.run(agent, { ...request, threadId, forwardedProps }),
    );
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
    connections.push(events);
  }
  const upstreamId = upstreamThreadId(agent, threadId);
  const later = await readEvents(await instance.routes.connect(agent, { threadId }));
  expect(await shownMessages(later)).toEqual(await stage.checkpointed(upstreamId));
  const [run] = await stage.outsider.runs.list(upstreamId);
  expect(JSON.stringify(run).includes('"events"')).toBe(dialect === "events");
  const tokens = connections.flat().filter(({ data }) => data.type === "TEXT_MESSAGE_CONTENT");
  return {
    text: tokens
      .map(({ data }) => data.delta)
      .join("")
      .split("")
      .toSorted()
      .join(""),
    roles: (await shownMessages(later)).map((line) => line.split(" ")[1]).toSorted(),
    questions: connections.map((events) =>
      events.flatMap(({ data }) => (data.name === "on_interrupt" ? [data.value] : [])),
    ),
    state: later.find(({ data }) => data.type === "STATE_SNAPSHOT")?.data.snapshot,
  };
}

describe("on a langgraph dev server, a run read in the events dialect", () => {
  it.each(STORIES)("shows of %s what one read in the modes dialect does", async (agent, story) => {
    const inModes = await seenIn(agent, story, "modes");
    expect(withoutTimes(await seenIn(agent, story, "events"))).toEqual(withoutTimes(inModes));
  });
});

function withoutTimes(value: object): unknown {
  return JSON.parse(JSON.stringify(value).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "a time"));
}
