// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { createQueryClient } from "./query";
import { type Feedback, useGiveFeedback, useOwnFeedback } from "./thread-feedback";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
afterEach(() => vi.unstubAllGlobals());

const THREAD = { agentId: "langgraph:poet", threadId: "t" };
type Give = ReturnType<typeof useGiveFeedback>;

interface Seen {
  /** Of the messages m1 and m2. */
  own?: readonly (Feedback | undefined)[];
  give?: Give;
}

function Page({ seen }: { readonly seen: Seen }): ReactNode {
  seen.own = [useOwnFeedback(THREAD, "m1", "ann"), useOwnFeedback(THREAD, "m2", "ann")];
  seen.give = useGiveFeedback(THREAD);
  return null;
}

/** A service that keeps what it is given, and tells one row a page. */
function serve(subject: string, rows: (Feedback & { readonly subject: string })[]) {
  vi.stubGlobal("fetch", async (path: string, { method, body }: RequestInit) => {
    if (method === "PUT") {
      const given = JSON.parse(String(body)) as Feedback;
      rows.unshift({ ...given, note: given.note ?? null, subject });
      return Response.json({});
    }
    const at = Number(new URL(path, "http://x").searchParams.get("after") ?? 0);
    return Response.json({
      feedback: rows.slice(at, at + 1),
      next: at + 1 < rows.length ? String(at + 1) : null,
    });
  });
}

it("reads every page, keeps the caller's own, and reads again after it is changed", async () => {
  serve("ann", [
    { messageId: "m1", value: "up", note: null, subject: "bob" },
    { messageId: "m2", value: "down", note: "Too long.", subject: "ann" },
  ]);
  const seen: Seen = {};
  const root = createRoot(document.createElement("div"));
  onTestFinished(() => act(() => root.unmount()));
  await act(async () =>
    root.render(
      <QueryClientProvider client={createQueryClient()}>
        <Page seen={seen} />
      </QueryClientProvider>,
    ),
  );
  await act(() =>
    vi.waitFor(() =>
      expect(seen.own).toEqual([undefined, expect.objectContaining({ value: "down", note: "Too long." })]),
    ),
  );
  await act(async () => void (await seen.give?.({ messageId: "m1", value: "up", note: "Nice." })));
  await act(() => vi.waitFor(() => expect(seen.own?.[0]).toMatchObject({ note: "Nice." })));
});
