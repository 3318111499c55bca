import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasTmux, openTerminal, type TmuxTerminal } from "./tmux-terminal.js";

const PROJECT = fileURLToPath(new URL("./stranger", import.meta.url));
const DEPENDENCIES = fileURLToPath(new URL("../node_modules", import.meta.url));

describe.runIf(hasTmux())("a stranger's project", () => {
  let folder: string;
  let server: TmuxTerminal;
  let person: TmuxTerminal;

  /** What the parrot answers. */
  async function say(text: string): Promise<string> {
    return (await person.run(`throughline run parrot '${text}' 2>/dev/null`)).printed;
  }
  const edit = (file: string, text: string) => writeFileSync(join(folder, file), text);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "stranger-"));
    chmodSync(folder, 0o755);
    cpSync(PROJECT, folder, { recursive: true });
    symlinkSync(DEPENDENCIES, join(folder, "node_modules"));
    server = openTerminal({ cwd: folder, env: {} });
    server.type("throughline serve --watch --port 0");
    const shown = await server.until(/http:\/\/127\.0\.0\.1:\d+/);
    await server.until("agents: parrot");
    await server.until("Watching this folder for changes.");
    const [url = ""] = /http:\/\/\S+$/.exec(shown) ?? [];
    person = openTerminal({ cwd: folder, env: { THROUGHLINE_URL: url } });
  });
  afterAll(async () => {
    try {
      server.press("C-c");
      await server.untilPrompt();
    } finally {
      for (const terminal of [server, person]) terminal.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("is served from its own folder, with its own variables", async () => {
    expect(await say("hello")).toContain('Polly: Somebody said "hello".');
  });

  it("is reloaded when a file that its graph imports is edited", async () => {
    edit("src/words.ts", 'export const opening = "A wise one said";\n');
    await server.until("↻ reloaded: parrot");
    expect(await say("hello")).toContain('Polly: A wise one said "hello".');
  });

  it("finishes a run with the graph it began with", async () => {
    const other = openTerminal({
      cwd: folder,
      env: { THROUGHLINE_URL: /http\S+\d/.exec(server.text())?.[0] ?? "" },
    });
    try {
      other.type(`throughline run parrot 'wait for ${join(folder, "go")}' --thread waiting`);
      person.type("throughline watch parrot waiting");
      await person.until("wait for");
      edit("src/words.ts", 'export const opening = "Nobody said";\n');
      await server.until("↻ reloaded: parrot");
      edit("go", "");
      await person.until("A wise one said");
    } finally {
      person.press("C-c");
      await person.untilPrompt();
      other.close();
    }
    expect(await say("hello")).toContain("Nobody said");
  });

  it("keeps its old graph after a broken edit, prints the mistake, and recovers", async () => {
    edit("src/words.ts", "export const opening = ;\n");
    await server.until("parrot.ts: could not be imported");
    await server.until("The graphs are as they were before this change.");
    expect(await say("still there?")).toContain("Nobody said");
    edit("src/words.ts", 'export const opening = "Everybody said";\n');
    await server.until("↻ reloaded: parrot");
    expect(await say("hello")).toContain("Everybody said");
  });

  it("gets another graph without a restart", async () => {
    edit(
      "langgraph.json",
      JSON.stringify({ graphs: { parrot: "./src/parrot.ts:graph", echo: "./src/parrot.ts:graph" } }),
    );
    await server.until("↻ reloaded: parrot, echo");
    expect((await person.run("throughline run echo hi 2>/dev/null")).printed).toContain(
      'Everybody said "hi".',
    );
  });
});
