import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createSimulatedClock, systemClock, ThroughlineError } from "@throughline/ai-core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type FollowedStream, followStream } from "./follow-stream.js";

/** What the server does with each connection, in order. */
type Reply = (response: ServerResponse) => void;
let replies: Reply[];
let asked: (string | undefined)[];
let server: Server;
let url: string;

beforeEach(async () => {
  replies = [];
  asked = [];
  server = createServer((request, response) => {
    asked.push(String(request.headers["last-event-id"]));
    response.writeHead(200, { "content-type": "text/event-stream" });
    replies.shift()?.(response);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const frame = (id: number) => `id: ${id}\ndata: {"n":${id}}\n\n`;
const seen: unknown[] = [];

function follow(more: Partial<FollowedStream> = {}): Promise<void> {
  seen.length = 0;
  return followStream({
    open: (id, signal) => fetch(url, { signal, headers: id === undefined ? {} : { "last-event-id": id } }),
    onConnected: () => seen.push("connected"),
    onEvent: ({ data }) => {
      seen.push(data);
      return "more";
    },
    onLost: () => seen.push("lost"),
    onFoundAgain: () => seen.push("found"),
    signal: new AbortController().signal,
    clock: { ...systemClock, schedule: (ms, run) => systemClock.schedule(ms > 10_000 ? ms : 1, run) },
    random: () => 0,
    ...more,
  });
}

describe("following a stream", () => {
  it("comes back behind the last event it saw, and stops when it has what it wanted", async () => {
    replies = [
      (response) => response.write(frame(1), () => response.destroy()),
      (response) => response.destroy(),
      (response) => response.write(frame(2)),
    ];
    await follow({ onEvent: ({ id }) => (id === "2" ? "done" : "more") });
    expect(asked).toEqual(["undefined", "1", "1"]);
  });

  it("says once that it is lost and once that it is back", async () => {
    replies = [(response) => response.end(frame(1)), (response) => response.write(frame(2))];
    await follow({
      onEvent({ id, data }) {
        seen.push(data);
        return id === "2" ? "done" : "more";
      },
    });
    expect(seen).toEqual(["connected", { n: 1 }, "lost", "found", "connected", { n: 2 }]);
  });

  it("asks again at once where the server says that the rest is elsewhere", async () => {
    replies = [(response) => response.write(frame(1)), (response) => response.write(frame(2))];
    await follow({ onEvent: ({ id }) => (id === "1" ? "again" : "done") });
    expect(asked).toEqual(["undefined", "1"]);
  });

  it("does not insist where nothing ever answered", async () => {
    const gone = async () => Promise.reject(new ThroughlineError("upstream_unavailable", "nobody there"));
    await expect(follow({ open: gone })).rejects.toThrow("nobody there");
  });

  it("does not insist where it is refused", async () => {
    let tries = 0;
    const open: FollowedStream["open"] = async (_, signal) => {
      tries += 1;
      if (tries > 1) throw new ThroughlineError("unauthorized", "The token has expired.");
      return fetch(url, { signal });
    };
    replies = [(response) => response.end()];
    await expect(follow({ open })).rejects.toThrow("expired");
  });

  it("takes a long silence for a lost connection", async () => {
    const clock = createSimulatedClock();
    replies = [(response) => response.write(frame(1)), (response) => response.write(frame(2))];
    const following = follow({ clock, onEvent: ({ id }) => (id === "2" ? "done" : "more") });
    await vi.waitFor(() => {
      clock.advance(20_000);
      expect(asked).toHaveLength(2);
    });
    await following;
  });

  it("ends when somebody leaves, also while it waits to try again", async () => {
    const left = new AbortController();
    replies = [(response) => response.end(frame(1))];
    await follow({
      signal: left.signal,
      clock: createSimulatedClock(),
      onLost: () => queueMicrotask(() => left.abort()),
    });
    expect(asked).toHaveLength(1);
  });
});
