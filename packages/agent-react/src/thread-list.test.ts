// @vitest-environment happy-dom
import type { ListedThread, ThreadPage } from "@throughline/agent-client";
import { expect, it, onTestFinished, vi } from "vitest";
import { createFakeAccount } from "./testing/fake-page.js";
import { createThreadList } from "./use-threads.js";

function row(threadId: string): ListedThread {
  return {
    agentId: "poet",
    threadId,
    title: null,
    archived: false,
    status: "idle",
    lastActivityAt: "2026-01-01T00:00:00Z",
  };
}

/** A list over answers that come when the test says so. */
function setUp({ pollMs = 0 } = {}) {
  const asked: {
    readonly after: string | undefined;
    answer(page: ThreadPage | { kind: "network" }): void;
  }[] = [];
  const account = createFakeAccount({
    threads: (_, query) => new Promise((answer) => asked.push({ after: query?.after, answer })),
  });
  const list = createThreadList({ account, agentId: "poet", query: {}, pollMs });
  const onChange = vi.fn();
  const leave = list.subscribe(onChange);
  onTestFinished(leave);
  return {
    list,
    leave,
    asked,
    names: () => list.getSnapshot().threads?.map(({ threadId }) => threadId),
    async answer(next: string | null, ...names: readonly string[]) {
      asked.at(-1)?.answer({ threads: names.map(row), next });
      await vi.waitFor(() => expect(onChange).toHaveBeenCalled());
      await Promise.resolve();
    },
  };
}

it("asks when somebody looks, and adds the next page to what is listed", async () => {
  const { list, asked, answer, names } = setUp();
  expect(list.getSnapshot()).toMatchObject({ threads: undefined, isLoading: true });
  await answer("p2", "a", "b");
  expect(list.getSnapshot()).toMatchObject({ hasMore: true, isLoading: false });
  void list.loadMore();
  // Something happened in `c` between the two pages.
  await answer(null, "b", "c");
  expect(names()).toEqual(["a", "b", "c"]);
  expect(list.getSnapshot().hasMore).toBe(false);
  expect(asked.map(({ after }) => after)).toEqual([undefined, "p2"]);
  await list.loadMore();
  expect(asked).toHaveLength(2);
});

it("asks again for as many pages as are listed", async () => {
  const { list, asked, answer, names } = setUp();
  await answer("p2", "a");
  void list.loadMore();
  await answer(null, "b");
  void list.refresh();
  expect(names()).toEqual(["a", "b"]);
  await answer("p2'", "new");
  await vi.waitFor(() => expect(asked).toHaveLength(4));
  await answer(null, "a");
  expect(names()).toEqual(["new", "a"]);
});

it("keeps what was listed when a question fails, and takes no answer to an older question", async () => {
  const { list, asked, answer, names } = setUp();
  await answer(null, "a");
  void list.refresh();
  asked[1]?.answer({ kind: "network" });
  await vi.waitFor(() => expect(list.getSnapshot().failure).toEqual({ kind: "network" }));
  expect(names()).toEqual(["a"]);
  void list.refresh();
  void list.refresh();
  await answer(null, "newest");
  asked[2]?.answer({ threads: [row("older")], next: null });
  await Promise.resolve();
  expect(names()).toEqual(["newest"]);
  expect(list.getSnapshot().failure).toBeUndefined();
});

it("polls while the page is in view and somebody looks", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const visibility = vi.spyOn(document, "visibilityState", "get").mockReturnValue("visible");
  const { asked, leave } = setUp({ pollMs: 1_000 });
  const answered = async () => {
    asked.at(-1)?.answer({ threads: [], next: null });
    await vi.advanceTimersByTimeAsync(0);
  };
  await answered();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toHaveLength(2);
  // One question at a time, however slow the answer is.
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked).toHaveLength(2);
  await answered();
  visibility.mockReturnValue("hidden");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked).toHaveLength(2);
  visibility.mockReturnValue("visible");
  leave();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked).toHaveLength(2);
});
