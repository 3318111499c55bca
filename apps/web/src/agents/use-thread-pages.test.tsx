// @vitest-environment happy-dom
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ThreadPage } from "../data/thread-lists";
import { threadRow } from "./testing/thread-row";
import { type ReadPage, type ThreadPages, useThreadPages } from "./thread-pages";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

/** Named by when something happened in it. */
const row = (at: number) => threadRow(`t${at}`, at);

const page = (times: readonly number[], next: string | null): ThreadPage => ({
  threads: times.map(row),
  next,
});

interface Question {
  readonly after: string | undefined;
  readonly limit: number;
  answer(page: ThreadPage): Promise<void>;
  fail(): Promise<void>;
}

interface ShownProps {
  readonly listKey: string;
  readonly first: ThreadPage;
  readonly ask: ReadPage;
  readonly onPages: (pages: ThreadPages) => void;
}

function Shown({ listKey, first, ask, onPages }: ShownProps): ReactNode {
  onPages(useThreadPages(listKey, first, ask));
  return null;
}

function show(first: ThreadPage) {
  const asked: Question[] = [];
  let pages: ThreadPages | undefined;
  const ask: ReadPage = (after, limit) =>
    new Promise((resolve, reject) => {
      const answer = (said: ThreadPage) => act(async () => resolve(said));
      asked.push({ after, limit, answer, fail: () => act(async () => reject(new Error("Away."))) });
    });
  const learn = (next: ThreadPages) => {
    pages = next;
  };
  const root = createRoot(document.createElement("div"));
  const tell = (newest: ThreadPage, listKey = "poet") =>
    act(() => root.render(<Shown listKey={listKey} first={newest} ask={ask} onPages={learn} />));
  tell(first);
  onTestFinished(() => act(() => root.unmount()));
  return {
    asked,
    tell,
    pages: () => pages,
    times: () => pages?.rows?.map(({ lastActivityAt }) => lastActivityAt),
    showMore: () => act(() => pages?.showMore()),
    refresh: () => act(() => pages?.refresh()),
  };
}

describe("pages of threads", () => {
  it("are the first alone until somebody wants more, and then go on where it ended", async () => {
    const list = show(page([9, 8], "below 8"));
    expect(list.times()).toEqual([9, 8]);
    list.showMore();
    expect(list.pages()?.isLoading).toBe(true);
    list.showMore();
    expect(list.asked.map(({ after }) => after)).toEqual(["below 8"]);
    await list.asked[0]?.answer(page([7, 6], null));
    expect(list.times()).toEqual([9, 8, 7, 6]);
    expect(list.pages()).toMatchObject({ hasMore: false, isLoading: false });
  });

  it("keep every thread once while the first is told anew, also in between", async () => {
    const list = show(page([9, 8], "below 8"));
    list.showMore();
    list.tell(page([10, 9], "below 9"));
    await list.asked[0]?.answer(page([7, 6], "below 6"));
    expect(list.times()).toEqual([10, 9, 8, 7, 6]);
    list.tell(page([11, 10], "below 10"));
    expect(list.times()).toEqual([11, 10, 9, 8, 7, 6]);
    list.showMore();
    expect(list.asked[1]?.after).toBe("below 6");
  });

  it("are asked for anew when something was changed, as many as are shown", async () => {
    const list = show(page([9, 8], "below 8"));
    list.refresh();
    expect(list.asked).toHaveLength(0);
    list.showMore();
    await list.asked[0]?.answer(page([7, 6], "below 6"));
    list.refresh();
    expect(list.asked[1]).toMatchObject({ after: undefined, limit: 4 });
    await list.asked[1]?.answer(page([9, 8, 6, 5], "below 5"));
    expect(list.times()).toEqual([9, 8, 6, 5]);
  });

  it("say what went wrong, keep what is there, and try again", async () => {
    const list = show(page([9, 8], "below 8"));
    list.showMore();
    await list.asked[0]?.fail();
    expect(list.pages()).toMatchObject({ problem: { message: "Away." }, hasMore: true, isLoading: false });
    expect(list.times()).toEqual([9, 8]);
    list.showMore();
    await list.asked[1]?.answer(page([7], null));
    expect(list.pages()?.problem).toBeUndefined();
    expect(list.times()).toEqual([9, 8, 7]);
  });

  it("begin anew for another list, which an answer to the former does not reach", async () => {
    const list = show(page([9, 8], "below 8"));
    list.showMore();
    list.tell(page([3], "below 3"), "sentinel");
    await list.asked[0]?.answer(page([7, 6], null));
    expect(list.times()).toEqual([3]);
    expect(list.pages()?.hasMore).toBe(true);
  });
});
