import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HttpAgent } from "@ag-ui/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  isType,
  readEvents,
  sseEvents,
} from "../../packages/langgraph-server/src/handler/testing/sse-events.js";
import { freePort } from "../server/rig/free-port.js";
import { type InstalledExample, installExample } from "./rig/install-example.js";

/** Beside the example's own route, so that a test sees who is connected. */
const SUBSCRIBERS = `
import { throughline } from "../../lib/throughline";
export const GET = async () => (await throughline()).fetch(new Request("http://localhost/metrics"));
`;

describe("The example with our handler in a Next.js route", () => {
  let example: InstalledExample;
  let next: ChildProcess;
  let url: string;
  let printed = "";
  beforeAll(async () => {
    example = installExample("nextjs-route");
    mkdirSync(join(example.folder, "app/subscribers"));
    writeFileSync(join(example.folder, "app/subscribers/route.ts"), SUBSCRIBERS);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    next = spawn(join(example.folder, "node_modules/.bin/next"), ["dev", "-p", String(port)], {
      cwd: example.folder,
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
      detached: true,
    });
    next.stdout?.on("data", (bytes: Buffer) => {
      printed += bytes.toString();
    });
    next.stderr?.on("data", (bytes: Buffer) => {
      printed += bytes.toString();
    });
    await vi.waitFor(
      async () => {
        const page = await fetch(url);
        expect(await page.text(), printed).toContain("routes are served by this app");
      },
      { timeout: 240_000, interval: 500 },
    );
  }, 900_000);
  afterAll(() => {
    // Its workers are in its group.
    if (next?.pid !== undefined) process.kill(-next.pid, "SIGKILL");
    example?.remove();
  });

  const run = (threadId: string, content: string, signal?: AbortSignal) =>
    fetch(`${url}/api/copilotkit/agent/echo/run`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ threadId, messages: [{ id: `${threadId}-1`, role: "user", content }] }),
      ...(signal && { signal }),
    });

  async function subscribers(): Promise<string | undefined> {
    return /^throughline_open_streams\S* (\d+)/m.exec(await (await fetch(`${url}/subscribers`)).text())?.[1];
  }

  it("streams each event as it comes", async () => {
    const at: number[] = [];
    for await (const event of sseEvents(await run("streamed", "a sentence of some length")))
      if (isType("TEXT_MESSAGE_CONTENT")(event)) at.push(performance.now());
    // All at once would be milliseconds; it is written letter by letter.
    expect(at.length).toBeGreaterThan(2);
    expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBeGreaterThan(200);
  });

  it("lets a reader go, whose run goes on, and who comes back sees all of it", async () => {
    const leaving = new AbortController();
    const text = "something long enough to leave in the middle of it, and to come back to";
    await readEvents(await run("left", text, leaving.signal), isType("TEXT_MESSAGE_CONTENT"));
    leaving.abort();
    // Next.js compiles the route when it is first asked for.
    await vi.waitFor(async () => expect(await subscribers()).toBe("0"), { timeout: 60_000 });
    const agent = new HttpAgent({ url: `${url}/api/copilotkit/agent/echo/connect`, threadId: "left" });
    await agent.runAgent();
    expect(agent.messages.map(({ content }) => content)).toEqual([text, `You said: ${text}`]);
  });

  it("serves useChat's routes too", async () => {
    const answer = await fetch(`${url}/api/ai-sdk/echo/chat/left`);
    expect(await answer.json()).toMatchObject({ messages: [{ role: "user" }, { role: "assistant" }] });
  });
});
