import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createScriptedProvider,
  type ScriptedProvider,
} from "../../../langgraph-server/src/testing/scripted-provider.js";
import { startTestServer, type TestServer } from "../../../langgraph-server/src/testing/test-server.js";
import { runCli } from "../run-cli.js";
import { recordedTerminal } from "../testing/recorded-terminal.js";

let graphs: ScriptedProvider;
let server: TestServer;
beforeEach(async () => {
  graphs = createScriptedProvider();
  server = await startTestServer({ graphs });
});
afterEach(() => server.close());

/** A command under way: what it printed so far, and how it ends. */
function begin(...argv: readonly string[]) {
  const left = new AbortController();
  const terminal = recordedTerminal({ env: { THROUGHLINE_URL: server.url } });
  const code = runCli(argv, { terminal, signal: left.signal });
  return {
    code,
    leave: () => left.abort(),
    printed: terminal.printed,
    said: () => terminal.said().join("\n"),
  };
}

/** A machine that is busy takes its time. */
const eventually = (read: () => string) => expect.poll(read, { timeout: 15_000 });

describe("a run that is open", () => {
  it("is shown as it is written, to who runs it and who watches, and stops when a third says so", async () => {
    const watch = begin("watch", "scripted", "t");
    await eventually(watch.said).toContain("Nothing here yet.");
    const run = begin("run", "scripted", "hello", "--thread", "t");
    const { say } = await graphs.nextRun();
    say("half of ");
    await eventually(run.printed).toContain("half of ");
    await eventually(watch.printed).toMatch(/^› hello\n(.*\n)?\s*half of $/);
    const stop = begin("stop", "scripted", "t", "--json");
    expect(await stop.code).toBe(0);
    expect(JSON.parse(stop.printed())).toEqual({ stopped: true, runId: expect.any(String) });
    expect(await run.code).toBe(1);
    expect(run.printed()).toContain("■ stopped\n");
    await eventually(watch.printed).toContain("■ stopped\n");
    watch.leave();
    expect(await watch.code).toBe(0);
  });

  it("says how a graph goes on that paused and asks nothing, to who runs it and who watches", async () => {
    const watch = begin("watch", "scripted", "t");
    await eventually(watch.said).toContain("Nothing here yet.");
    const run = begin("run", "scripted", "hello", "--thread", "t");
    (await graphs.nextRun()).end("interrupted");
    expect(await run.code).toBe(0);
    const notice = "The graph paused before a node. Let it go on with: throughline ask-again scripted t";
    expect(run.said()).toContain(notice);
    await eventually(watch.said).toContain(notice);
    const again = begin("ask-again", "scripted", "t");
    expect(await again.code).toBe(0);
    (await graphs.nextRun()).end();
    const late = begin("watch", "scripted", "t");
    await eventually(late.printed).toContain("hello");
    expect(late.said()).not.toContain("paused");
    for (const each of [watch, late]) each.leave();
    await Promise.all([watch.code, late.code]);
  });

  it("keeps another out of its thread, who sees nothing of it", async () => {
    const first = begin("run", "scripted", "hello", "--thread", "t");
    const { say, end } = await graphs.nextRun();
    say("mine");
    await eventually(first.printed).toContain("mine");
    const second = begin("run", "scripted", "me too", "--thread", "t");
    expect(await second.code).toBe(1);
    expect(second.printed()).toMatch(/^✗ Another run is active in this thread\. .*\n$/);
    end();
    expect(await first.code).toBe(0);
  });

  it("goes on when its person leaves, and ends with them where that was asked for", async () => {
    const left = begin("run", "scripted", "hello", "--thread", "kept");
    const kept = await graphs.nextRun();
    kept.say("on and on");
    await eventually(left.printed).toContain("on and on");
    left.leave();
    expect(await left.code).toBe(130);
    expect(left.said()).toContain("You stopped watching; the run goes on.");
    kept.end();

    const owned = begin("run", "scripted", "hello", "--thread", "owned", "--stop-on-exit");
    (await graphs.nextRun()).say("until you go");
    await eventually(owned.printed).toContain("until you go");
    owned.leave();
    expect(await owned.code).toBe(130);
    expect(owned.said()).toContain("The run is stopped.");
    const later = begin("stop", "scripted", "owned");
    await later.code;
    expect(later.printed()).toBe("No run is open in this thread.\n");
  });
});
