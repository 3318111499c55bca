import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../packages/langgraph-server/src/testing/test-server.js";
import { type InstalledExample, installExample } from "./rig/install-example.js";

describe("The example with a plain HttpAgent", () => {
  let example: InstalledExample;
  let server: TestServer;
  beforeAll(async () => {
    example = installExample("http-agent");
    server = await startTestServer();
  }, 600_000);
  afterAll(async () => {
    await server?.close();
    example?.remove();
  });

  async function chat(...args: string[]): Promise<string> {
    const env = { ...process.env, THROUGHLINE_URL: server.url };
    const child = spawn(process.execPath, ["chat.mjs", ...args], { cwd: example.folder, env });
    const [printed, problems] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(problems).toBe("");
    return printed;
  }

  it("talks to an agent, and shows the thread to who comes later", async () => {
    expect(await chat("hello", "what is 6 * 7?")).toMatch(
      /^\[calculator \{"expression":"6 \* 7"\}\][\s\S]*42/,
    );
    const shown = await chat("hello");
    expect(shown).toContain("user: what is 6 * 7?");
    expect(shown).toMatch(/assistant: [\s\S]*42/);
  });
});
