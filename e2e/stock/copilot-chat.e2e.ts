import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Chromium, hasChromium, launchChromium } from "../browser/chromium.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { visitChat } from "./rig/chat-visitor.js";
import { type ServedExample, serveExample } from "./rig/run-example.js";
import { stockFolder } from "./rig/start-runtime.js";

const PREPARATION_MS = 1_200_000;

/** What differs between the two examples: what one says to which agent. */
interface Stage {
  open(folder: string): Promise<ServedExample>;
  readonly story: { readonly agent: string; readonly say: string; readonly begins: RegExp };
  readonly trip: {
    readonly agent: string;
    readonly flight: RegExp;
    readonly hotel: RegExp;
    readonly after: RegExp;
  };
  readonly approval: {
    readonly agent: string;
    /** Leads to the question. */
    readonly say: readonly (string | RegExp)[];
    readonly done: RegExp;
  };
}

let postgres: RigPostgres;
let service: RigServer | undefined;

const byUrl: Stage = {
  async open(folder) {
    service = await startServer({
      databaseUrl: await postgres.createDatabase(),
      env: { THROUGHLINE_OFFLINE_PACE_MS: "60", THROUGHLINE_CORS_ORIGINS: "*" },
    });
    return serveExample(folder, "copilotkit-by-url", { RUNTIME_URL: `${service.url}/api/copilotkit` });
  },
  story: { agent: "langgraph:poet", say: "Write about the sea", begins: /\w+ \w+ \w+/ },
  trip: { agent: "langgraph:travel", flight: /KLM/, hotel: /Hotel Zoe/, after: /Your trip is planned/ },
  approval: { agent: "langgraph:approver", say: ["Refund order 79"], done: /Refunded/ },
};

const byRunner: Stage = {
  open: async (folder) =>
    serveExample(folder, "copilotkit-runtime", { DATABASE_URL: await postgres.createDatabase() }),
  story: { agent: "travel", say: "Tell me a story", begins: /Mile 2 was/ },
  trip: { agent: "travel", flight: /KLM/, hotel: /Hotel Zoe/, after: /before I book/ },
  approval: { agent: "travel", say: ["Plan a trip", /United/, /Hotel Zephyr/], done: /Booked/ },
};

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await service?.stop();
  await postgres.stop();
});

describe.runIf(hasChromium()).each([
  ["a service by its URL", byUrl],
  ["CopilotKit's runtime with our runner", byRunner],
])("stock <CopilotChat> against %s", (_, stage) => {
  let chromium: Chromium;
  let example: ServedExample;
  beforeAll(async () => {
    const folder = await stockFolder();
    [example, chromium] = await Promise.all([stage.open(folder), launchChromium()]);
  }, PREPARATION_MS);
  afterAll(async () => {
    await chromium.close();
    await example.stop();
  });

  const visit = (agent: string, thread: string = randomUUID()) =>
    visitChat(chromium.context, `${example.url}/?agent=${agent}&thread=${thread}`);

  it("answers, and shows a second tab the same", async () => {
    const { agent, say, begins } = stage.story;
    const thread = randomUUID();
    const visitor = await visit(agent, thread);
    await visitor.say(say);
    await visitor.untilAnswered(begins);
    const second = await visit(agent, thread);
    await second.untilAnswered(begins);
    await Promise.all([visitor.untilIdle(), second.untilIdle()]);
    expect(await second.answers()).toEqual(await visitor.answers());
  });

  it("goes on after a reload in the middle of an answer, without a word twice", async () => {
    const { agent, say, begins } = stage.story;
    const thread = randomUUID();
    const visitor = await visit(agent, thread);
    await visitor.say(say);
    await visitor.untilAnswered(begins);
    const before = (await visitor.answers()).join("\n");
    await visitor.reload();
    await visitor.untilAnswered(begins);
    await visitor.untilIdle();
    const after = (await visitor.answers()).join("\n");
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.startsWith(before.slice(0, 20))).toBe(true);
    const other = await visit(agent, thread);
    await other.untilAnswered(begins);
    await other.untilIdle();
    expect((await other.answers()).join("\n")).toBe(after);
    expect(after.split(before.slice(0, 20))).toHaveLength(2);
  });

  it("asks for a flight and a hotel with buttons, also after a reload", async () => {
    const { agent, flight, hotel, after } = stage.trip;
    const visitor = await visit(agent);
    await visitor.say("Plan a trip");
    await visitor.untilAsked(flight);
    await visitor.untilIdle();
    await visitor.reload();
    await visitor.untilAsked(flight);
    await visitor.untilIdle();
    await visitor.press(flight);
    await visitor.untilAsked(hotel);
    await visitor.untilIdle();
    await visitor.press(hotel);
    await visitor.untilAnswered(after);
    await visitor.untilIdle();
    expect(await visitor.page.getByRole("button", { name: hotel }).count()).toBe(0);
  });

  it("asks for an approval, and acts on it", async () => {
    const { agent, say, done } = stage.approval;
    const visitor = await visit(agent);
    for (const step of say) {
      if (typeof step === "string") await visitor.say(step);
      else {
        await visitor.untilAsked(step);
        await visitor.untilIdle();
        await visitor.press(step);
      }
    }
    await visitor.untilAsked("Approve");
    await visitor.untilIdle();
    await visitor.press("Approve");
    await visitor.untilAnswered(done);
  });

  it("stops an answer, and takes the next message", async () => {
    const { agent, say, begins } = stage.story;
    const visitor = await visit(agent);
    await visitor.say(say);
    await visitor.untilAnswered(begins);
    await visitor.stop();
    await visitor.untilIdle();
    const stoppedAt = (await visitor.answers()).join();
    await visitor.say("Again, please");
    await visitor.untilIdle();
    // A service keeps of a stopped answer what its graph has committed; a runner keeps all of it.
    expect((await visitor.answers()).join()).not.toBe(stoppedAt);
  });
});
