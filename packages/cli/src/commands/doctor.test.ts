import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../run-cli.js";
import { recordedTerminal } from "../testing/recorded-terminal.js";

describe("throughline doctor", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "doctor-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("tells a line for each finding, and fails when one must be mended", async () => {
    writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs: { lost: "./lost.ts:graph" } }));
    const env = {
      LANGGRAPH_DATABASE_URL: "postgres://127.0.0.1:9/x",
      THROUGHLINE_HOST: "0.0.0.0",
      PORT: "0",
    };
    const terminal = recordedTerminal({ env, cwd: folder });
    expect(await runCli(["doctor"], { terminal })).toBe(1);
    expect(terminal.printed()).toMatch(/^ok {4}node /);
    expect(terminal.printed()).toMatch(/\nfail {2}sign-in .*\n +Set THROUGHLINE_JWT_SECRET/);
    expect(terminal.printed()).toMatch(/\nfail {2}database /);
    expect(terminal.printed()).toMatch(/\nfail {2}graphs .*lost\.ts: there is no such file/);
    const json = recordedTerminal({ env, cwd: folder });
    await runCli(["doctor", "--json"], { terminal: json });
    expect(JSON.parse(json.printed())).toContainEqual(
      expect.objectContaining({ subject: "database", status: "fail" }),
    );
  });

  it("checks the server at --url, up to the first check that fails", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.statusCode = request.url === "/ready" ? 503 : 200;
      response.setHeader("content-type", "application/json").end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const terminal = recordedTerminal({ env: {}, cwd: folder });
      expect(await runCli(["doctor", "--url", `http://127.0.0.1:${port}`], { terminal })).toBe(1);
      expect(asked).toEqual(["/health", "/ready"]);
      expect(terminal.printed()).toMatch(/^ok {4}server .*answers\nfail {2}ready /);
    } finally {
      server.close();
    }
  });

  it("stops at settings that can't be read: nothing after them would mean anything", async () => {
    const terminal = recordedTerminal({ env: { PORT: "eighty" } });
    expect(await runCli(["doctor"], { terminal })).toBe(1);
    expect(terminal.printed().trim().split("\n").at(-2)).toMatch(
      /^fail {2}settings +PORT takes a whole number/,
    );
  });
});
