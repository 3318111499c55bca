import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordedTerminal } from "../testing/recorded-terminal.js";
import { serverClient } from "./api-client.js";
import { type FollowedThread, type FollowOptions, followThread } from "./followed-thread.js";

/** What the server does with each stream that is asked for, in order. */
let replies: ((response: ServerResponse) => void)[];
let cursors: (string | null)[];
let server: Server;
let url: string;
let followed: FollowedThread | undefined;

beforeEach(async () => {
  replies = [];
  cursors = [];
  server = createServer(async (request, response) => {
    if (request.url !== "/api/copilotkit/follow") {
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
      return;
    }
    const { subscriptions } = JSON.parse(await text(request));
    cursors.push(subscriptions[0].cursor ?? null);
    const reply = replies.shift();
    if (reply) reply(response);
    else response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  followed?.close();
  server.closeAllConnections();
  server.close();
});

function follow(more: Partial<FollowOptions> = {}, at = url): FollowedThread {
  const client = serverClient({ terminal: recordedTerminal({ env: { THROUGHLINE_URL: at } }), flags: {} });
  followed = followThread(client, { agent: "poet", thread: "t", ...more });
  return followed;
}

const frame = (event: object, id?: string) =>
  `event: 0\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`;
const idle =
  frame({ type: "RUN_STARTED", threadId: "t", runId: "throughline:1" }) +
  frame({ type: "RUN_FINISHED", threadId: "t", runId: "throughline:1" }, "1.1.0.1sc");

describe("a thread that is followed", () => {
  it("says once that the connection is lost, comes back behind the last frame, and says so once", async () => {
    const happened: string[] = [];
    replies = [
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(idle, () => setTimeout(() => response.destroy()));
      },
      (response) => response.destroy(),
    ];
    const { ready } = follow({
      onFrames: (frames) => happened.push(...frames.map(({ event }) => event.type)),
      onLost: () => happened.push("lost"),
      onFoundAgain: () => happened.push("found"),
    });
    await ready;
    await expect
      .poll(() => happened, { timeout: 15_000 })
      .toEqual(["RUN_STARTED", "RUN_FINISHED", "lost", "found"]);
    expect(cursors).toEqual([null, "1.1.0.1sc", "1.1.0.1sc"]);
  });

  it("does not insist where nothing ever answered", async () => {
    server.close();
    const { ready, failed } = follow();
    await expect(ready).rejects.toThrow(`No server answers at ${url}.`);
    await expect(failed).rejects.toThrow("throughline serve");
  });

  it("does not insist where it is refused, and repeats the server's sentence", async () => {
    const end = { subscription: 0, status: 404, code: "not_found", message: "Unknown agent." };
    replies = [
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`event: end\ndata: ${JSON.stringify(end)}\n\n`);
      },
    ];
    await expect(follow().ready).rejects.toThrow("Unknown agent.");
  });
});
