// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import { act, Profiler } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CallerContext } from "../../data/caller";
import { createQueryClient } from "../../data/query";
import { openThread, runFinished, runStarted } from "../../data/testing/open-thread";
import { MessageActions } from "./message-actions";
import { ThreadSessionProvider } from "./thread-session";

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
async function openAnswers() {
  const queries = createQueryClient();
  const commits: string[][] = [];
  let rendered: string[] = [];
  const { place, tell } = await openThread(
    <Profiler
      id="page"
      onRender={() => {
        commits.push(rendered);
        rendered = [];
      }}
    >
      <QueryClientProvider client={queries}>
        <CallerContext value={CALLER}>
          <ThreadSessionProvider onSend={() => {}}>
            {IDS.map((id) => (
              <Profiler key={id} id={id} onRender={(name) => rendered.push(name)}>
                <MessageActions id={id} runId="r" text={id} anchor={id} isStep={false} />
              </Profiler>
            ))}
          </ThreadSessionProvider>
        </CallerContext>
      </QueryClientProvider>
    </Profiler>,
  );
  await tell(
    runStarted("r"),
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
    tell,
    untilAllSay,
    /** Which answers' actions each commit since the last call rendered. */
    commits: () => commits.splice(0),
    regenerate,
    pressed: () => place.querySelectorAll("[aria-pressed=true]").length,
  };
}

it("renders, when a run ends, the last answer's actions at once and one button of the others, few at a time", async () => {
  const { tell, commits, regenerate, untilAllSay } = await openAnswers();
  await tell(runFinished("r"));
  await untilAllSay("Regenerate");
  expect(regenerate().some(({ disabled }) => disabled)).toBe(false);
  const [first, ...others] = commits();
  expect(first).toEqual([LAST]);
  expect(new Set(others.flat())).toEqual(new Set(IDS.slice(0, -1)));
  expect(Math.max(...others.map(({ length }) => length))).toBeLessThanOrEqual(10);
});

it("asks once for the feedback of all answers, and for nothing else", async () => {
  await openAnswers();
  expect(asked.map((path) => path.replace(/\?.*/, ""))).toEqual([expect.stringMatching(/\/feedback$/)]);
});

it("renders, when feedback is read again, only the answer that it is about", async () => {
  const { queries, commits, pressed } = await openAnswers();
  await act(() => queries.invalidateQueries());
  feedback = [{ messageId: "m3", value: "up", note: null, subject: "ann" }];
  await act(() => queries.invalidateQueries());
  await act(() => vi.waitFor(() => expect(pressed()).toBe(1)));
  expect(new Set(commits().flat())).toEqual(new Set(["m3"]));
});
