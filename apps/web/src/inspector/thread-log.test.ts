import { describe, expect, it, vi } from "vitest";
import { createThreadLog, type ThreadLog } from "./thread-log";

const entry = (seq: number, epoch = "e") =>
  `event: custom\nid: ${epoch}.${seq}.0.log\ndata: ${JSON.stringify({ type: "custom", seq, epoch })}\n\n`;

/** Answers one request after another; the last one stays open. */
function serving(...answers: readonly (string | number)[]) {
  const asked: (string | undefined)[] = [];
  const fetch = vi.fn(async (_url: unknown, init?: RequestInit) => {
    asked.push(new Headers(init?.headers).get("last-event-id") ?? undefined);
    const answer = answers[asked.length - 1] ?? "";
    if (typeof answer === "number") return new Response(null, { status: answer });
    const isLast = asked.length >= answers.length;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(answer));
        if (!isLast) controller.close();
      },
    });
    return new Response(body);
  });
  return { asked, fetch };
}

function logOf(fetch: typeof globalThis.fetch): ThreadLog {
  const soon = (callback: () => void) => {
    queueMicrotask(callback);
    return () => undefined;
  };
  return createThreadLog({
    url: "http://service/events",
    fetch,
    now: () => 7,
    schedule: soon,
    retryMs: () => 0,
  });
}

const seqs = (log: ThreadLog) => {
  const { entries, count } = log.getSnapshot();
  return entries.slice(0, count).map(({ cursor }) => cursor.split(".").slice(0, 2).join("."));
};

describe("a thread's log", () => {
  it("opens its stream with the first listener and closes it after the last", async () => {
    const { fetch } = serving(entry(1));
    const log = logOf(fetch);
    expect(fetch).not.toHaveBeenCalled();
    const leave = log.subscribe(() => undefined);
    await vi.waitFor(() => expect(seqs(log)).toEqual(["e.1"]));
    expect(log.getSnapshot().status).toBe("live");
    leave();
    await vi.waitFor(() => expect(log.getSnapshot()).toMatchObject({ status: "closed", count: 0 }));
    expect(fetch.mock.calls[0]?.[1]?.signal?.aborted).toBe(true);
  });

  it("comes back with the cursor it holds, and shows nothing twice", async () => {
    const { asked, fetch } = serving(entry(1) + entry(2), entry(2) + entry(3));
    const log = logOf(fetch);
    log.subscribe(() => undefined);
    await vi.waitFor(() => expect(seqs(log)).toEqual(["e.1", "e.2", "e.3"]));
    expect(asked).toEqual([undefined, "e.2.0.log"]);
    expect(log.getSnapshot().generation).toBe(0);
  });

  it("begins anew when the log it knew is gone", async () => {
    const { fetch } = serving(entry(1) + entry(2), entry(1, "f"));
    const log = logOf(fetch);
    log.subscribe(() => undefined);
    await vi.waitFor(() => expect(seqs(log)).toEqual(["f.1"]));
    expect(log.getSnapshot().generation).toBe(1);
  });

  it("tries again after a failure, and gives up where there is nothing", async () => {
    const { asked, fetch } = serving(503, 404);
    const log = logOf(fetch);
    log.subscribe(() => undefined);
    await vi.waitFor(() => expect(log.getSnapshot().status).toBe("over"));
    expect(asked).toHaveLength(2);
  });

  it("is over when the service says that the thread is deleted", async () => {
    const { asked, fetch } = serving(`${entry(1)}event: error\ndata: {"code":"not_found"}\n\n`, "");
    const log = logOf(fetch);
    log.subscribe(() => undefined);
    await vi.waitFor(() => expect(log.getSnapshot().status).toBe("over"));
    expect(asked).toHaveLength(1);
  });

  it("leaves an older snapshot as it was", async () => {
    const { fetch } = serving(entry(1), entry(2));
    const log = logOf(fetch);
    const seen = new Map<number, ReturnType<ThreadLog["getSnapshot"]>>();
    log.subscribe(() => seen.set(log.getSnapshot().count, log.getSnapshot()));
    await vi.waitFor(() => expect(seqs(log)).toHaveLength(2));
    expect(seen.get(1)?.entries).toBe(log.getSnapshot().entries);
    expect(seen.get(1)?.count).toBe(1);
  });
});
