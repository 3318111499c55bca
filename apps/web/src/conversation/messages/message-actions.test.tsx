// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import {
  type AgentEvent,
  createAgentClient,
  createMemoryStorage,
  type ServicePort,
} from "@throughline/agent-client";
import { AgentProvider, ThreadProvider } from "@throughline/agent-react";
import { act, Profiler, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { CallerContext } from "../../console/caller";
import { createQueryClient } from "../../service/queries/query-client";
import { SteeringProvider } from "../steering/steering";
import { MessageActions } from "./message-actions";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const IDS = Array.from({ length: 20 }, (_, at) => `m${at}`);
const LAST = "m19";
const CALLER = { isPerson: true, subject: "ann", role: "operator", refusal: () => undefined };

let asked: string[];
let feedback: readonly object[];

beforeEach(() => {
  asked = [];
  feedback = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    return Response.json({ feedback, next: null });
  });
});
afterEach(() => vi.unstubAllGlobals());

/** Below a thread with twenty answers, the actions of each. Tells which of them each commit renders. */
async function openThread() {
  let tell: ((...events: readonly AgentEvent[]) => void) | undefined;
  const service: ServicePort = {
    agents: async () => [],
    follow: (_, signal, sink) =>
      new Promise((resolve) => {
        sink.opened();
        tell = (...events) =>
          sink.events(
            0,
            events.map((event) => ({ id: undefined, data: JSON.stringify(event) })),
          );
        signal.addEventListener("abort", () => resolve({ kind: "ended" }));
      }),
    send: async (_, { id }) => ({ kind: "accepted", serviceRunId: id }),
    stop: async () => true,
    poll: async () => undefined,
    renew: async () => true,
  };
  const schedule = (callback: () => void) => {
    queueMicrotask(callback);
    return () => {};
  };
  const client = createAgentClient({ url: "/api", service, schedule, storage: createMemoryStorage() });
  const queries = createQueryClient();
  const place = document.createElement("div");
  const root = createRoot(place);
  const commits: string[][] = [];
  let rendered: string[] = [];
  onTestFinished(() => {
    act(() => root.unmount());
    client.close();
  });

  const page: ReactNode = (
    <Profiler
      id="page"
      onRender={() => {
        commits.push(rendered);
        rendered = [];
      }}
    >
      <QueryClientProvider client={queries}>
        <CallerContext value={CALLER}>
          <AgentProvider client={client}>
            <ThreadProvider agentId="poet" threadId="t">
              <SteeringProvider onSend={() => {}}>
                {IDS.map((id) => (
                  <Profiler key={id} id={id} onRender={(name) => rendered.push(name)}>
                    <MessageActions id={id} runId="r" text={id} anchor={id} />
                  </Profiler>
                ))}
              </SteeringProvider>
            </ThreadProvider>
          </AgentProvider>
        </CallerContext>
      </QueryClientProvider>
    </Profiler>
  );
  await act(async () => root.render(page));
  const show = (...events: readonly AgentEvent[]) => act(async () => tell?.(...events));
  await show(
    { type: "RUN_STARTED", threadId: "t", runId: "r" },
    { type: "STATE_SNAPSHOT", snapshot: {} },
    { type: "MESSAGES_SNAPSHOT", messages: IDS.map((id) => ({ id, role: "assistant", content: id })) },
  );
  const regenerate = () => [...place.querySelectorAll<HTMLButtonElement>("button[aria-label^=Regenerate]")];
  /** Waits until every answer's button says this. */
  const untilAllSay = (title: string) =>
    act(() =>
      vi.waitFor(() => expect(regenerate().map((button) => button.title)).toEqual(IDS.map(() => title))),
    );
  await untilAllSay("Regenerate: The agent is busy.");
  commits.splice(0);
  return {
    queries,
    show,
    untilAllSay,
    /** Which answers' actions each commit since the last call rendered. */
    commits: () => commits.splice(0),
    regenerate,
    pressed: () => place.querySelectorAll("[aria-pressed=true]").length,
  };
}

it("renders, when a run ends, the last answer's actions at once and one button of the others, few at a time", async () => {
  const { show, commits, regenerate, untilAllSay } = await openThread();
  await show({ type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: { type: "success" } });
  await untilAllSay("Regenerate");
  expect(regenerate().some(({ disabled }) => disabled)).toBe(false);
  const [first, ...others] = commits();
  expect(first).toEqual([LAST]);
  expect(new Set(others.flat())).toEqual(new Set(IDS.slice(0, -1)));
  expect(Math.max(...others.map(({ length }) => length))).toBeLessThanOrEqual(10);
});

it("asks once for the feedback of all answers, and for nothing else", async () => {
  await openThread();
  expect(asked.map((path) => path.replace(/\?.*/, ""))).toEqual([expect.stringMatching(/\/feedback$/)]);
});

it("renders, when feedback is read again, only the answer that it is about", async () => {
  const { queries, commits, pressed } = await openThread();
  await act(() => queries.invalidateQueries());
  feedback = [{ messageId: "m3", value: "up", note: null, subject: "ann" }];
  await act(() => queries.invalidateQueries());
  await act(() => vi.waitFor(() => expect(pressed()).toBe(1)));
  expect(new Set(commits().flat())).toEqual(new Set(["m3"]));
});
