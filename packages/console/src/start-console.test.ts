import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { reachableUrl } from "./address.js";
import { consolePort } from "./console-port.js";
import { type ConsoleOptions, type RunningConsole, startConsole } from "./start-console.js";

const HOST = "127.0.0.1";
/** Answers with its environment; asked to end, it does. */
const PROGRAM = `
  import { createServer } from "node:http";
  createServer((request, response) => {
    if (request.url === "/end") process.exit(3);
    response.end(JSON.stringify({ pid: process.pid, env: process.env }));
  }).listen(Number(process.env.PORT), process.env.HOSTNAME);
`;

let folder: string;
let running: RunningConsole | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-console-"));
  running = undefined;
});
afterEach(async () => {
  await running?.stop();
  rmSync(folder, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

async function start(options: Partial<ConsoleOptions> = {}): Promise<RunningConsole> {
  const script = join(folder, "program.mjs");
  writeFileSync(script, PROGRAM);
  running = await startConsole({
    serviceUrl: "http://127.0.0.1:1",
    signIn: "account",
    host: HOST,
    port: 0,
    onTrouble: () => {},
    onLost: () => {},
    program: () => ({ script }),
    ...options,
  });
  return running;
}

interface Answer {
  readonly pid: number;
  readonly env: Readonly<Record<string, string>>;
}
const asked = async (url: string) => (await (await fetch(url)).json()) as Answer;
const end = (url: string) => fetch(`${url}/end`).catch(() => undefined);

describe("the console's process", () => {
  it("is told where the service is, and none of this process's secrets", async () => {
    vi.stubEnv("LITELLM_API_KEY", "secret");
    const { url, stop } = await start({ signIn: "token" });
    const { env } = await asked(url);
    expect(env).toMatchObject({
      THROUGHLINE_URL: "http://127.0.0.1:1",
      THROUGHLINE_CONSOLE_SIGN_IN: "token",
    });
    expect(env).not.toHaveProperty("LITELLM_API_KEY");
    await stop();
    await expect(fetch(url)).rejects.toThrow();
  });

  it("is started once more when it ends by itself, and given up when it ends again", async () => {
    const onTrouble = vi.fn<(sentence: string) => void>();
    const onLost = vi.fn<(sentence: string) => void>();
    const { url } = await start({ onTrouble, onLost });
    const first = await asked(url);
    await end(url);
    await vi.waitFor(() => expect(onTrouble).toHaveBeenCalledWith(expect.stringContaining("(exit code 3).")));
    await vi.waitFor(async () => expect((await asked(url)).pid).not.toBe(first.pid), { timeout: 20_000 });
    await end(url);
    await vi.waitFor(() =>
      expect(onLost).toHaveBeenCalledWith(expect.stringMatching(/giving up|could not start/)),
    );
  });

  it("that can't start is an error with what it said", async () => {
    const script = join(folder, "broken.mjs");
    writeFileSync(script, 'throw new Error("no pages here");');
    await expect(start({ program: () => ({ script }) })).rejects.toThrow(
      /The console could not start \(exit code 1\)\.[\s\S]*no pages here/,
    );
  });
});

it("refuses a port that another process has, and names the flag", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, HOST, resolve));
  try {
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    await expect(consolePort(HOST, port)).rejects.toThrow(
      `Port ${port} is in use. Name another with --console-port.`,
    );
  } finally {
    server.close();
  }
});

it("asks a service that listens everywhere on loopback", () => {
  expect(reachableUrl("http://0.0.0.0:8000")).toBe("http://127.0.0.1:8000");
  expect(reachableUrl("http://[::]:8000")).toBe("http://[::1]:8000");
  expect(reachableUrl("http://10.0.0.1:8000")).toBe("http://10.0.0.1:8000");
});
