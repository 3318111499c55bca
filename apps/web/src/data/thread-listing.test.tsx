// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, onTestFinished, vi } from "vitest";
import { createQueryClient } from "./query";
import { useListing, useRefreshListing, useRenameThread } from "./thread";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

interface ListedProps {
  readonly threadId: string;
  readonly onReady: (steer: { refresh(): void; rename(title: string): Promise<unknown> }) => void;
}

function Listed({ threadId, onReady }: ListedProps): ReactNode {
  const thread = { agentId: "poet", threadId };
  onReady({ refresh: useRefreshListing(thread), rename: useRenameThread(thread) });
  return useListing(thread).value?.title ?? "nothing";
}

/** Each request is answered when the test says so; one that was aborted stays without an answer. */
async function openListing() {
  const answers: ((title: string) => void)[] = [];
  const more = { titledByPerson: false, archived: false, forkedFrom: null, model: null };
  vi.stubGlobal(
    "fetch",
    (_: string, { signal }: RequestInit) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        answers.push((title) => resolve(Response.json({ title, ...more })));
      }),
  );
  const place = document.createElement("div");
  const root = createRoot(place);
  const queries = createQueryClient();
  onTestFinished(() => {
    act(() => root.unmount());
    vi.unstubAllGlobals();
  });
  const show = (props: ListedProps) =>
    act(async () =>
      root.render(
        <QueryClientProvider client={queries}>
          <Listed {...props} />
        </QueryClientProvider>,
      ),
    );
  const asked = (at: number) => vi.waitFor(() => expect(answers.length).toBeGreaterThan(at));
  const answer = async (at: number, title: string) => {
    await asked(at);
    answers[at]?.(title);
  };
  const shows = (text: string) =>
    vi.waitFor(async () => {
      await act(async () => {});
      expect(place.textContent).toBe(text);
    });
  const settled = async () => {
    await vi.waitFor(() => expect(queries.isFetching()).toBe(0));
    // The cache tells what it got in a task of its own.
    await act(() => new Promise((resolve) => setTimeout(resolve)));
  };
  return { place, show, asked, answer, shows, settled };
}

it("keeps how a thread was listed until the next answer is there, and shows nothing of another thread", async () => {
  const { place, show, asked, answer, shows } = await openListing();
  let refresh = () => {};
  await show({ threadId: "a", onReady: (steer) => ({ refresh } = steer) });
  expect(place.textContent).toBe("nothing");
  await answer(0, "rivers");
  await shows("rivers");
  await act(async () => refresh());
  expect(place.textContent).toBe("rivers");
  await answer(1, "great rivers");
  await shows("great rivers");
  await show({ threadId: "b", onReady: () => {} });
  expect(place.textContent).toBe("nothing");
  await asked(2);
});

it("shows what a change made of a thread, whatever was asked before it", async () => {
  const { place, show, asked, answer, shows, settled } = await openListing();
  let [refresh, rename] = [() => {}, async (_: string): Promise<unknown> => undefined];
  await show({ threadId: "a", onReady: (steer) => ({ refresh, rename } = steer) });
  await answer(0, "rivers");
  await shows("rivers");
  await act(async () => refresh());
  await asked(1);
  const renamed = rename("salt");
  await answer(2, "salt");
  await act(() => renamed);
  await shows("salt");
  await act(() => answer(1, "rivers"));
  await settled();
  expect(place.textContent).toBe("salt");
});
