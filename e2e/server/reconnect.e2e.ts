import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { said } from "./rig/agent-routes.js";
import { parseFrames, type RawFrame, readAndCut } from "./rig/cut-stream.js";
import { type AskedAgent, askedAgent, QUESTIONS } from "./rig/questions.js";
import { serverForTests } from "./rig/server-for-tests.js";
import { eachTrial } from "./rig/trials.js";
import { appliedView, type Line } from "./stock/applied-view.js";

const server = serverForTests({ env: { THROUGHLINE_OFFLINE_PACE_MS: "3" } });

/** What a request says beside who and where. */
interface Turn {
  readonly messages?: readonly unknown[];
  readonly resume?: readonly unknown[];
  readonly forwardedProps?: object;
}

const eventOf = ({ data }: RawFrame): Record<string, unknown> => JSON.parse(data);
const withId = (frames: readonly RawFrame[]) => frames.filter(({ id }) => id !== undefined);
const isTerminal = (frame: RawFrame | undefined) =>
  frame !== undefined && ["RUN_FINISHED", "RUN_ERROR"].includes(String(eventOf(frame).type));

function post(
  agent: AskedAgent,
  action: "run" | "connect",
  body: object,
  signal?: AbortSignal,
  cursor?: string,
) {
  return fetch(`${server().url}/api/copilotkit/agent/${agent}/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(cursor !== undefined && { "last-event-id": cursor }) },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

async function wholeRun(agent: AskedAgent, body: object): Promise<RawFrame[]> {
  return parseFrames(Buffer.from(await (await post(agent, "run", body)).arrayBuffer()));
}

/** All connections of a reader that is cut off again and again, to the end of the run. */
async function interruptedRun(agent: AskedAgent, body: object, random: () => number): Promise<RawFrame[][]> {
  const connections: RawFrame[][] = [];
  let cursor: string | undefined;
  for (;;) {
    // Mostly a few frames, sometimes a few bytes, sometimes a lot.
    const bytes = 1 + Math.floor(random() ** 3 * 12_000);
    const from = cursor;
    const { frames, ended } = await readAndCut(
      (signal) =>
        from === undefined ? post(agent, "run", body, signal) : post(agent, "connect", body, signal, from),
      bytes,
    );
    connections.push([...frames]);
    cursor = withId(frames).at(-1)?.id ?? cursor;
    if (isTerminal(withId(frames).at(-1))) return connections;
    if (ended) throw new Error(`The stream ended before its run, after ${cursor}.`);
  }
}

/** What the graph waits for, in the form of the line, and an answer to it. */
function answerTo(line: Line, frames: readonly RawFrame[]): Turn {
  if (line === "0.0") {
    const question = frames.map(eventOf).find(({ name }) => name === "on_interrupt");
    return {
      forwardedProps: { command: { resume: JSON.parse(String(question?.value)).options[1] } },
    };
  }
  // A parsed boundary: the stock client's schema took it.
  const { outcome } = eventOf(frames.at(-1) ?? { id: undefined, data: "{}" }) as {
    outcome: { interrupts: { id: string; metadata: { langgraph: { raw: { options: unknown[] } } } }[] };
  };
  return {
    resume: outcome.interrupts.map(({ id, metadata }) => ({
      interruptId: id,
      status: "resolved",
      payload: metadata.langgraph.raw.options[1],
    })),
  };
}

describe("a client that is cut off mid-token and comes back with the last id", () => {
  it("got every frame once and in order, and holds what one that stayed holds", async () => {
    await eachTrial(200, async (random, index) => {
      const agent = askedAgent(index);
      const line: Line = random() < 0.5 ? "0.0" : "1.0";
      const profile = random() < 0.5 ? "user" : "debug";
      const common = {
        threadId: `reconnect ${index}`,
        ...(line === "1.0" && { protocolVersion: "1.0" }),
      };
      const stayed = appliedView(line);
      const cutOff = appliedView(line);
      let next: Turn = {
        messages: [said(`m-${index}`, QUESTIONS[agent])],
      };
      for (let turn = 0; turn < (agent === "travel" ? 2 : 1); turn += 1) {
        const { forwardedProps, ...rest } = { forwardedProps: {}, ...next };
        const body = {
          ...common,
          messages: stayed.messages,
          ...rest,
          runId: randomUUID(),
          state: stayed.state,
          forwardedProps: { ...forwardedProps, throughline: { profile } },
        };
        const [connections, whole] = await Promise.all([
          interruptedRun(agent, body, random),
          wholeRun(agent, body),
        ]);
        expect(withId(connections.flat())).toEqual(withId(whole));
        expect(withId(whole).length).toBeGreaterThan(5);
        await stayed.connection(whole.map(eventOf), next.resume);
        for (const frames of connections) {
          if (frames.length > 0) await cutOff.connection(frames.map(eventOf), next.resume);
        }
        expect(cutOff.messages).toEqual(stayed.messages);
        expect(cutOff.state).toEqual(stayed.state);
        if (agent === "travel" && turn === 0) next = answerTo(line, whole);
      }
    });
  }, 1_200_000);
});
