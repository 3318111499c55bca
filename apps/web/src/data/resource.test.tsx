// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createQueryClient, polled, useResource } from "./query";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

interface Question {
  readonly signal: AbortSignal;
  answer(text: string): Promise<void>;
}

interface ShownProps {
  readonly everyMs: number;
  readonly ask: (signal: AbortSignal) => Promise<string>;
  readonly onRefresh: (refresh: () => void) => void;
}

function Shown({ everyMs, ask, onRefresh }: ShownProps): ReactNode {
  const resource = useResource({
    queryKey: ["key"],
    queryFn: ({ signal }) => ask(signal),
    ...polled(everyMs),
  });
  onRefresh(resource.refresh);
  return resource.value ?? "nothing";
}

function show(everyMs: number) {
  const asked: Question[] = [];
  let refresh = () => {};
  const ask = (signal: AbortSignal) =>
    new Promise<string>((resolve) => {
      asked.push({ signal, answer: (text) => settle(() => resolve(text)) });
    });
  const learn = (next: () => void) => {
    refresh = next;
  };
  const place = document.createElement("div");
  const root = createRoot(place);
  const queries = createQueryClient();
  act(() =>
    root.render(
      <QueryClientProvider client={queries}>
        <Shown everyMs={everyMs} ask={ask} onRefresh={learn} />
      </QueryClientProvider>,
    ),
  );
  onTestFinished(() => act(() => root.unmount()));
  return { asked, place, refresh: () => act(() => refresh()) };
}

/** The cache tells of an answer in a task of its own. */
const settle = (answer: () => void) =>
  act(async () => {
    answer();
    await vi.advanceTimersByTimeAsync(1);
  });
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

describe("a resource that is asked for again and again", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("waits for an answer that takes longer than a round", async () => {
    const { asked, place } = show(1_000);
    await pass(5_000);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.signal.aborted).toBe(false);
    await asked[0]?.answer("late");
    expect(place.textContent).toBe("late");
  });

  it("asks again once it has been answered, and shows the newest", async () => {
    const { asked, place } = show(1_000);
    await asked[0]?.answer("first");
    await pass(1_200);
    expect(asked).toHaveLength(2);
    expect(place.textContent).toBe("first");
    await asked[1]?.answer("second");
    expect(place.textContent).toBe("second");
  });

  it("asks anew at once when somebody wants it, and takes the former question back", async () => {
    const { asked, place, refresh } = show(60_000);
    await asked[0]?.answer("first");
    refresh();
    refresh();
    expect(asked).toHaveLength(3);
    expect(asked[1]?.signal.aborted).toBe(true);
    await asked[1]?.answer("old");
    await asked[2]?.answer("new");
    expect(place.textContent).toBe("new");
  });
});
