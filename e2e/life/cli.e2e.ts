import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasTmux, openTerminal, type TmuxTerminal } from "./tmux-terminal.js";

const DEMO = fileURLToPath(new URL("../../packages/langgraph-graphs/langgraph.json", import.meta.url));

describe.runIf(hasTmux())("throughline in a real terminal", () => {
  let folder: string;
  let server: TmuxTerminal;
  let port: string;
  const opened: TmuxTerminal[] = [];

  /** A second window of the same person; the server's address comes from the environment, as they would set it. */
  function open(env: Readonly<Record<string, string>> = {}): TmuxTerminal {
    const terminal = openTerminal({
      cwd: folder,
      env: { THROUGHLINE_URL: `http://127.0.0.1:${port}`, ...env },
    });
    opened.push(terminal);
    return terminal;
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "throughline-cli-"));
    // As root PostgreSQL runs as another user, who must be able to enter.
    chmodSync(folder, 0o755);
    server = openTerminal({
      cwd: folder,
      env: { THROUGHLINE_OFFLINE_PACE_MS: "100", THROUGHLINE_CONFIG: DEMO },
    });
    server.type("throughline serve --port 0");
    const shown = await server.until(/http:\/\/127\.0\.0\.1:\d+/);
    port = /:(\d+)$/.exec(shown)?.[1] ?? "";
    await server.until("Ctrl-C stops everything.");
  });
  afterEach(() => {
    for (const terminal of opened.splice(0)) terminal.close();
  });
  afterAll(async () => {
    try {
      server.press("C-c");
      await server.untilPrompt();
    } finally {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("talks, turn after turn, until Ctrl-D", async () => {
    const person = open();
    person.type("throughline run chat");
    await person.until("you>");
    person.type("What is 2 + 3 * 4?");
    const first = await person.until("you>");
    expect(first).toMatch(/▸ agent\n {2}→ calculator .*\n▸ tools\n {2}← calculator: .*= 14\n▸ agent\n/);
    person.type("And what is 6 * 7?");
    expect(await person.until("you>")).toContain("= 42");
    person.press("C-d");
    await person.untilPrompt();
    expect((await person.run("true")).code).toBe(0);
  });

  it("asks what the graph asks: a wrong number again, a number, and an empty line for the recommendation", async () => {
    const person = open();
    person.type("throughline run travel 'Plan my trip' --thread trip");
    expect(await person.until("answer>")).toMatch(/1\. KLM.*\(recommended\)\n {2}2\. United/);
    person.type("7");
    await person.until("Choose a number from 1 to 2.\nanswer>");
    person.type("2");
    expect(await person.until("answer>")).toContain("Your seat is with United");
    person.type("");
    expect(await person.until("tokens in")).toContain("Your room is at Hotel Zoe");
  });

  it("lets two people watch: one answers, and the other's prompt goes away", async () => {
    const [one, two] = [open(), open()];
    for (const watcher of [one, two]) {
      watcher.type("throughline watch travel shared");
      await watcher.until("Nothing here yet.");
    }
    const starter = open();
    starter.type("printf '' | throughline run travel 'Plan my trip' --thread shared");
    await starter.until("The run waits for an answer, and there is no more input.");
    await one.until("answer>");
    await two.until("answer>");
    one.type("1");
    for (const watcher of [one, two]) {
      expect(await watcher.until("hotels in San Francisco")).toContain("Your seat is with KLM");
    }
    // Only the answers that this person typed stand in the window.
    await two.until("answer>");
    expect(two.text().match(/answer>/g)).toHaveLength(1);
  });

  it("leaves a run on Ctrl-C, says how to stop it, and stops it", async () => {
    const [person, watcher] = [open(), open()];
    watcher.type("throughline watch ponderer long");
    await watcher.until("Nothing here yet.");
    person.type("throughline run ponderer 'a very long night' --thread long");
    await person.until("▸ ponderer");
    await watcher.until("▸ ponderer");
    person.press("C-c");
    const left = await person.until("throughline stop ponderer long");
    expect(left).toContain("You stopped watching; the run goes on.");
    expect((await person.run("true && throughline stop ponderer long")).printed).toContain("Stopped.");
    await watcher.until("■ stopped");
    watcher.press("C-c");
    await watcher.untilPrompt();
  });

  it("stops the run with it where that was asked for", async () => {
    const [person, watcher] = [open(), open()];
    watcher.type("throughline watch ponderer owned");
    await watcher.until("Nothing here yet.");
    person.type("throughline run ponderer 'another night' --thread owned --stop-on-exit");
    await person.until("▸ ponderer");
    person.press("C-c");
    await person.until("The run is stopped.");
    await watcher.until("■ stopped");
  });

  it("goes on where it was when the server is restarted in the middle of a run", async () => {
    const watcher = open();
    watcher.type("throughline watch poet restarted");
    await watcher.until("Nothing here yet.");
    open().type("throughline run poet 'the sea' --thread restarted");
    await watcher.until("▸ poet");
    server.press("C-c");
    await watcher.until("The connection is lost; trying again.");
    await server.untilPrompt();
    server.type(`throughline serve --port ${port}`);
    await watcher.until("Connected again.");
    await watcher.until("tokens in");
    await server.until("Ctrl-C stops everything.");
    // A late joiner sees what this subscriber saw last.
    const again = await open().run("printf '' | throughline run poet --thread restarted");
    const poem = again.printed.replaceAll(/\s+/g, " ").trim();
    expect(poem.length).toBeGreaterThan(100);
    expect(watcher.text().replaceAll(/\s+/g, " ")).toContain(poem);
  });

  it("says in one line what was typed wrong, and what to type", async () => {
    const person = open();
    const wrong: readonly (readonly [line: string, said: string, code: number])[] = [
      ["throughline watsch poet x", 'There is no command "watsch". Did you mean watch?', 2],
      ["throughline run", "Something is missing: throughline run AGENT [text]", 2],
      ["throughline run poet --thraed x hi", "There is no option --thraed. Did you mean --thread?", 2],
      [
        "throughline watch poet x --url localhost",
        "--url takes a URL that begins with http:// or https://",
        2,
      ],
      ["throughline run nobody hi", 'Unknown agent "nobody". Available: chat', 1],
      ["throughline serve --port eighty", "--port takes a whole number", 2],
      [`throughline serve --config ${DEMO} --port ${port}`, `Port ${port} of 127.0.0.1 is taken.`, 1],
      ["THROUGHLINE_LOGLEVEL=info throughline config", "Did you mean THROUGHLINE_LOG_LEVEL?", 2],
    ];
    for (const [line, said, code] of wrong) {
      const outcome = await person.run(`${line} >/dev/null`);
      expect(outcome.printed, line).toContain(said);
      expect(outcome.code, line).toBe(code);
    }
  });

  it("says that no server answers, and how to start one", async () => {
    const person = open({ THROUGHLINE_URL: "http://127.0.0.1:9" });
    for (const command of ["run poet hi", "watch poet x", "threads", "crons", "stop poet x"]) {
      const outcome = await person.run(`throughline ${command}`);
      expect(outcome.printed, command).toContain(
        "No server answers at http://127.0.0.1:9. Start one with `throughline serve`",
      );
      expect(outcome.code, command).toBe(1);
    }
  });

  it("has colours for a person, and none for a pipe or under NO_COLOR", async () => {
    const person = open();
    expect((await person.run("throughline run sentinel hi | cat -v")).printed).not.toContain("^[[");
    await person.run("throughline run sentinel hi");
    const node = person
      .text({ withColours: true })
      .split("\n")
      .findLast((line) => line.includes("▸ status"));
    expect(node).toMatch(/\[[0-9;]*1m/);
    const plain = open({ NO_COLOR: "1" });
    await plain.run("throughline run sentinel hi");
    expect(plain.text({ withColours: true })).not.toContain("\u001b[");
  });
});
