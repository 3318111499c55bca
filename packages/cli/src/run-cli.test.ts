import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../langgraph-server/src/testing/test-server.js";
import { runThroughline } from "./testing/run-throughline.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

function throughline(
  argv: readonly string[],
  { lines = [], env = {} }: { lines?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
) {
  return runThroughline(argv, { lines, env: { THROUGHLINE_URL: server.url, ...env } });
}

describe("throughline", () => {
  it("says what there is, and its version", async () => {
    expect((await throughline(["--version"])).printed).toBe("1.2.3\n");
    const help = await throughline([]);
    expect(help).toMatchObject({
      code: 0,
      printed: expect.stringMatching(/ {2}serve .*\n {2}run .*\n {2}watch /),
    });
    expect(await throughline(["--help"])).toEqual(help);
  });

  it.each([
    "init",
    "serve",
    "run",
    "watch",
    "stop",
    "share",
    "threads",
    "crons",
    "usage",
    "budgets",
    "keys",
    "doctor",
    "retention",
    "renew-epochs",
    "config",
    "completion",
  ])("explains %s with what it takes", async (name) => {
    const { code, printed } = await throughline([name, "--help"]);
    expect(code).toBe(0);
    expect(printed).toContain(`  throughline ${name}`);
    expect(printed).toContain("--help ");
    expect((await throughline(["help", name])).printed).toBe(printed);
  });

  it.each([
    [["wach"], 'There is no command "wach". Did you mean watch?'],
    [["help", "dance"], 'There is no command "dance". There is: init, serve,'],
    [["watch", "poet"], "Something is missing: throughline watch AGENT THREAD"],
    [["crons", "ad"], 'There is no "crons ad". Did you mean add?'],
    [["usage", "reconcil"], 'There is no "usage reconcil". Did you mean reconcile?'],
    [["usage", "--csv", "--json"], "Choose --csv or --json."],
    [["usage", "unclaimed", "--limit", "0"], "--limit takes a whole number"],
    [["budgets", "set"], "Say how much: throughline budgets set --day USD"],
    [["budgets", "set", "--day", "1", "--soft", "most"], "--soft takes a whole number of percent."],
    [["keys", "import", "key-1"], "throughline keys import ID --account NAME"],
    [["keys", "import", "key-1", "--account", "a b"], "--account is not the name of an account."],
    [["crons", "pause"], "Name the cron by its id"],
    [["completion", "tcsh"], 'There is no completion for "tcsh"'],
    [["run", "poet", "--thread="], "--thread must not be empty."],
    [["threads", "--account", "a b"], "--account "],
    [["watch", "poet", "sea", "--history", "all"], "--history takes a whole number."],
  ])("refuses %j in one line, with code 2", async (argv, sentence) => {
    const { code, said, printed } = await throughline(argv);
    expect(said).toContain(sentence);
    expect(said).not.toContain("\n");
    expect([code, printed]).toEqual([2, ""]);
  });

  it("refuses a misspelt variable by name, whatever the command", async () => {
    const { code, said } = await throughline(["threads"], { env: { THROUGHLINE_TOKN: "secret-token" } });
    expect([code, said]).toEqual([2, "THROUGHLINE_TOKN is not a setting. Did you mean THROUGHLINE_TOKEN?"]);
  });

  it("runs an agent, and shows the thread to who watches or asks again", async () => {
    const ran = await throughline(["run", "poet", "the", "sea", "--thread", "sea"]);
    expect(ran).toMatchObject({ code: 0, printed: expect.stringMatching(/^▸ poet\n {2}\S/) });
    expect(ran.printed).toMatch(/\n1 model call, \d+ tokens in, \d+ out\n$/);
    const again = await throughline(["run", "poet", "--thread", "sea"]);
    const poem = ran.printed
      .split("\n")
      .slice(1, -2)
      .map((line) => line.trim());
    expect(again.printed.split("\n").map((line) => line.trim())).toEqual(expect.arrayContaining(poem));
  });

  it("names the thread it made, on stderr", async () => {
    const { said } = await throughline(["run", "poet", "hi"]);
    expect(said).toMatch(/^thread cli-[0-9a-f]{8}$/);
  });

  it("answers a graph's questions from a pipe, and fails when the pipe has no more", async () => {
    const lines = ["2", ""];
    const { code, printed } = await throughline(["run", "travel", "Plan my trip"], { lines });
    expect(code).toBe(0);
    expect(printed).toContain("Your seat is with United");
    expect(printed).toContain("Your room is at Hotel Zoe");
    const short = await throughline(["run", "travel", "Plan my trip", "--thread", "short"], { lines: ["1"] });
    expect(short).toMatchObject({
      code: 1,
      said: "The run waits for an answer, and there is no more input.",
    });
    // The question is still open: a new text finds it, and the answer goes on from there.
    const later = await throughline(["run", "travel", "hello?", "--thread", "short"], { lines: ["1"] });
    expect(later.printed).toContain("Your room is at Hotel Zephyr");
  });

  it("gives events as they came, a JSON object a line", async () => {
    const { printed } = await throughline(["run", "poet", "hi", "--json"]);
    const events: { type: string }[] = printed
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.at(0)?.type).toBe("RUN_STARTED");
    expect(events.at(-1)?.type).toBe("RUN_FINISHED");
  });

  it("shows nothing of a thread's past where it is only spoken to", async () => {
    const first = await throughline(["run", "poet", "the sea", "--thread", "spoken"]);
    const json = await throughline(["run", "poet", "the rain", "--thread", "spoken", "--json"]);
    const types = json.printed.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).type]));
    expect(types.filter((type) => type === "RUN_STARTED" || type === "RUN_FINISHED")).toEqual([
      "RUN_STARTED",
      "RUN_FINISHED",
    ]);
    const again = await throughline(["run", "poet", "the wind", "--thread", "spoken"]);
    expect(again.printed.split("\n")).toHaveLength(first.printed.split("\n").length);
  });

  it("fails with the server's own sentence", async () => {
    const nobody = await throughline(["run", "nobody", "hi", "--thread", "t"]);
    expect(nobody).toMatchObject({ code: 1, said: expect.stringContaining("Available: chat") });
    const elsewhere = await throughline(["threads", "--url", `${server.url}/elsewhere`]);
    expect(elsewhere).toMatchObject({ code: 1, said: "There is no such route." });
  });

  it("lists threads of one agent or of all, for people and for programs", async () => {
    await throughline(["run", "ponderer", "why", "--thread", "deep", "--account", "lister"]);
    await throughline(["run", "poet", "why", "--thread", "light", "--account", "lister"]);
    const all = await throughline(["threads", "--account", "lister"]);
    expect(all.printed).toMatch(/^AGENT +THREAD +WHOSE +STATUS +ACTIVE +TITLE\n/);
    expect(all.printed).toMatch(/ponderer +deep +account +idle +\d+ s ago +why\n/);
    const one = await throughline(["threads", "poet", "--account", "lister", "--json"]);
    expect(JSON.parse(one.printed)).toMatchObject([{ agent: "poet", threadName: "light", status: "idle" }]);
    expect((await throughline(["threads", "--account", "nobody"])).said).toContain("No threads.");
  });

  it("keeps crons: adds, lists, pauses, resumes, runs, shows ticks and removes", async () => {
    const account = ["--account", "keeper"];
    const added = await throughline([
      "crons",
      "add",
      "poet",
      "every 1 h",
      "a line",
      "--thread",
      "hourly",
      "--json",
      ...account,
    ]);
    const { id } = JSON.parse(added.printed);
    expect((await throughline(["crons", ...account])).printed).toMatch(/poet +every 1 h +UTC +in \d+ min/);
    expect((await throughline(["crons", "pause", id, ...account])).printed).toBe("Paused.\n");
    expect((await throughline(["crons", "list", ...account])).printed).toContain("paused");
    expect((await throughline(["crons", "resume", id, ...account])).printed).toMatch(
      /^Resumed\. Next: \d{4}-/,
    );
    const run = await throughline(["crons", "run", id, ...account]);
    expect(run).toMatchObject({
      printed: "It runs.\n",
      said: "Watch it: throughline watch poet hourly --account keeper",
    });
    expect((await throughline(["crons", "ticks", id, ...account])).printed).toMatch(/started +\S+ +hourly\n/);
    expect((await throughline(["crons", "remove", id, ...account])).printed).toBe("Removed.\n");
    expect((await throughline(["crons", ...account])).said).toContain("No crons.");
    const wrong = await throughline(["crons", "add", "poet", "whenever", ...account]);
    expect(wrong).toMatchObject({ code: 1, said: expect.stringContaining("schedule") });
  });

  it("stops what is open, and says so when nothing is", async () => {
    expect((await throughline(["stop", "poet", "quiet"])).printed).toBe("No run is open in this thread.\n");
  });

  it("shares a thread with the account, shows whose each is, and goes on in it", async () => {
    const ann = ["--account", "sharing", "--subject", "ann"];
    const bob = ["--account", "sharing", "--subject", "bob"];
    await throughline(["run", "poet", "the sea", "--thread", "rivers", ...ann]);
    expect((await throughline(["threads", "poet", ...ann])).printed).toMatch(/poet +rivers +private +idle/);
    expect((await throughline(["threads", "poet", ...bob])).said).toContain("No threads.");
    expect((await throughline(["share", "poet", "rivers", ...ann])).printed).toBe(
      "Shared with the account.\n",
    );
    expect((await throughline(["threads", "poet", ...bob])).printed).toMatch(/poet +rivers +account +idle/);
    const ran = await throughline(["run", "poet", "the rain", "--thread", "rivers", "--shared", ...bob]);
    expect(ran.code).toBe(0);
    expect((await throughline(["threads", "poet", "--visibility", "private", ...bob])).said).toContain(
      "No threads.",
    );
    const refused = await throughline(["share", "poet", "rivers", "--private", ...ann]);
    expect(refused).toMatchObject({
      code: 1,
      said: expect.stringContaining("The role operator may not share"),
    });
  });
});
