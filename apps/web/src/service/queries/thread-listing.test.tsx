// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, onTestFinished, vi } from "vitest";
import { createQueryClient } from "./query-client";
import { useListing } from "./thread-listing";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

interface ListedProps {
  readonly threadId: string;
  readonly moment: string;
}

function Listed({ threadId, moment }: ListedProps): ReactNode {
  return useListing({ agentId: "poet", threadId }, moment).value?.title ?? "nothing";
}

it("keeps how a thread was listed until the next answer is there, and shows nothing of another thread", async () => {
  const answers: ((title: string) => void)[] = [];
  const more = { titledByPerson: false, archived: false, forkedFrom: null, model: null };
  vi.stubGlobal(
    "fetch",
    () => new Promise((resolve) => answers.push((title) => resolve(Response.json({ title, ...more })))),
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
  const answer = async (at: number, title: string) => {
    await vi.waitFor(() => expect(answers).toHaveLength(at + 1));
    answers[at]?.(title);
  };
  const shows = (text: string) =>
    vi.waitFor(async () => {
      await act(async () => {});
      expect(place.textContent).toBe(text);
    });

  await show({ threadId: "a", moment: "r1 running" });
  expect(place.textContent).toBe("nothing");
  await answer(0, "rivers");
  await shows("rivers");
  await show({ threadId: "a", moment: "r1 success" });
  expect(place.textContent).toBe("rivers");
  await answer(1, "great rivers");
  await shows("great rivers");
  await show({ threadId: "b", moment: "r2 running" });
  expect(place.textContent).toBe("nothing");
});
