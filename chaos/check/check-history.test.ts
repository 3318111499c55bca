import { describe, expect, it } from "vitest";
import type { LoggedCall } from "../../e2e/billing/rig/litellm-rig.js";
import { checkHistory } from "./check-history.js";
import { type Frame, type History, type ThreadHistory, type ViewerHistory, WHOLE_ENTRY } from "./history.js";

const frame = (seq: number, more: Partial<Frame> = {}): Frame => ({
  epoch: "e",
  seq,
  n: 0,
  text: `content ${seq}`,
  marks: ["ann"],
  ...more,
});
const [a, b, c, d] = [frame(1), frame(2), frame(3), frame(4)];
const LOG = [a, b, c, d];
const renewed = (...frames: readonly Frame[]) => frames.map((each) => ({ ...each, epoch: "f" }));
const prelude = (seq: number, epoch = "e") => frame(seq, { n: WHOLE_ENTRY, epoch });

const MESSAGE = `m1 user: "tenant-ann says hello"`;
const REPLY = `m2 assistant: "Good day"`;
const SOUND: ThreadHistory = {
  account: "ann",
  agent: "speaker",
  threadId: "room",
  log: { envelopes: LOG, "ag-ui": LOG },
  stored: LOG.length,
  shown: [MESSAGE],
  held: [MESSAGE],
  runs: [{ runId: "run-1", alias: "r1", status: "success" }],
  sent: [{ runId: "r1", words: "hello", fate: "accepted" }],
  viewers: [],
  pages: [{ name: "page", messages: [MESSAGE] }],
  mutations: { accepted: [], applied: [] },
};

const check = (thread: Partial<ThreadHistory>, history: Partial<History> = {}) =>
  checkHistory({ threads: [{ ...SOUND, ...thread }], unfinished: [], trespasses: [], ...history }).map(
    ({ kind }) => kind,
  );
const watch = (connections: readonly (readonly Frame[])[], more: Partial<ViewerHistory> = {}) =>
  check({ viewers: [{ name: "v", view: "envelopes", connections, ...more }] });

describe("The checker is content with a viewer that", () => {
  it.each<[string, readonly (readonly Frame[])[], Partial<ViewerHistory>]>([
    ["was told the log", [LOG], {}],
    ["was told it over three connections", [[a], [b, c], [d]], {}],
    ["began in the middle with a full prelude", [[prelude(2), c, d]], { view: "ag-ui" }],
    ["was told all of it again in a new epoch", [[a, b], renewed(a, b, c, d)], {}],
    ["went on behind a prelude of a new epoch", [[a], [prelude(3, "f"), ...renewed(d)]], { view: "ag-ui" }],
    [
      "got two preludes while the epoch was renewed",
      [[a, b], [prelude(2)], [prelude(2, "f"), ...renewed(c, d)]],
      { view: "ag-ui" },
    ],
    ["left when the log ended earlier", [[a, b]], { leftAt: 2 }],
  ])("%s", (_, connections, more) => expect(watch(connections, more)).toEqual([]));

  it("got a prelude of the old epoch and left, while the epoch was renewed", () => {
    const log = { envelopes: renewed(...LOG), "ag-ui": renewed(...LOG) };
    const left: ViewerHistory = { name: "v", view: "ag-ui", connections: [[a, b], [prelude(4)]], leftAt: 4 };
    expect(check({ log, viewers: [left] })).toEqual([]);
    // The next frame is one of the old epoch: nothing was renewed.
    expect(
      check({
        log,
        viewers: [
          {
            ...left,
            connections: [
              [a, b],
              [prelude(3), d],
            ],
          },
        ],
      }),
    ).toEqual(["doubled"]);
  });
});

describe("The checker finds a viewer that", () => {
  it.each<[string, string, readonly (readonly Frame[])[], Partial<ViewerHistory>]>([
    ["lost an event", "lost", [[a, c, d]], {}],
    ["lost an event at a reconnect", "lost", [[a, b], [d]], {}],
    [
      "was told an event twice",
      "doubled",
      [
        [a, b],
        [b, c, d],
      ],
      {},
    ],
    ["was told everything again in the same epoch", "doubled", [[a, b], LOG], {}],
    [
      "got a full prelude without a gap",
      "doubled",
      [
        [a, b],
        [prelude(2), c, d],
      ],
      { view: "ag-ui" },
    ],
    ["was told events out of order", "disordered", [[a, c, b, d]], {}],
    ["was told another content", "altered", [[a, { ...b, text: "other" }, c, d]], {}],
    ["was told what is not in the log", "altered", [[...LOG, frame(9)]], {}],
    ["never came to the end", "hung", [[a, b]], {}],
    ["was told nothing", "hung", [], {}],
    ["left before the end of its time", "hung", [[a, b]], { leftAt: 3 }],
    ["was told another tenant's event", "foreign", [[a, { ...b, marks: ["bob"] }, c, d]], {}],
  ])("%s", (_, kind, connections, more) => expect(watch(connections, more)).toEqual([kind]));
});

describe("The checker finds", () => {
  it.each<[string, string, Partial<ThreadHistory>]>([
    ["a run that is still running", "stuck", { runs: [{ runId: "x", alias: "r1", status: "running" }] }],
    ["an accepted run that does not exist", "lost", { runs: [], sent: [{ runId: "r1", fate: "accepted" }] }],
    [
      "a refused run that exists",
      "disagreement",
      { sent: [{ runId: "r1", words: "hello", fate: "refused" }] },
    ],
    [
      "a run that exists twice",
      "doubled",
      { runs: [1, 2].map((each) => ({ runId: `run-${each}`, alias: "r1", status: "success" })) },
    ],
    ["a message that is not in the checkpoint", "lost", { held: [], shown: [], pages: [] }],
    [
      "a message that is twice in the checkpoint",
      "doubled",
      { held: [MESSAGE, MESSAGE], shown: [MESSAGE, MESSAGE], pages: [] },
    ],
    ["a log that shows less than the checkpoint holds", "disagreement", { shown: [] }],
    ["a page that shows more", "disagreement", { pages: [{ name: "p", messages: [MESSAGE, "m2 user: 1"] }] }],
    [
      "a log that shows messages in another order",
      "disagreement",
      { held: [MESSAGE, REPLY], shown: [REPLY, MESSAGE], pages: [] },
    ],
    [
      "a page that shows one message in place of another",
      "disagreement",
      {
        held: [MESSAGE, REPLY, REPLY],
        shown: [MESSAGE, REPLY, REPLY],
        pages: [{ name: "p", messages: [MESSAGE, MESSAGE, REPLY] }],
      },
    ],
    ["entries that a reader is not told", "lost", { stored: 5 }],
    ["a mutation that was not applied", "lost", { mutations: { accepted: ["x"], applied: [] } }],
    [
      "a mutation in whose place another was applied",
      "lost",
      { mutations: { accepted: ["x", "y"], applied: ["y", "other"] } },
    ],
    ["a mutation that was never sent", "doubled", { mutations: { accepted: [], applied: ["x"] } }],
    ["a mutation that was applied twice", "doubled", { mutations: { accepted: ["x"], applied: ["x", "x"] } }],
    [
      "another tenant's words in the checkpoint",
      "foreign",
      { held: [`m1 user: "tenant-bob says hello"`], shown: [`m1 user: "tenant-bob says hello"`], pages: [] },
    ],
  ])("%s", (_, kind, thread) => expect(check(thread)).toEqual([kind]));

  it("a deed that did not come to its end, and a request that reached another tenant's thread", () => {
    const words = { thread: "ann/speaker/room", words: "…" };
    expect(check({}, { unfinished: [words], trespasses: [words] })).toEqual(["hung", "foreign"]);
  });
});

describe("The checker of charges", () => {
  const logged: LoggedCall = {
    status: "success",
    call_id: "u1",
    key_hash: "key of ann",
    spend: 0.000_002,
    input_tokens: 11,
    output_tokens: 3,
    model_group: "cheap",
    labels: { accountId: "ann", runId: "run-1" },
  };
  const unit = {
    unitId: "u1",
    account: "ann",
    runId: "run-1",
    keyHash: "key of ann",
    state: "settled" as const,
    reason: null,
    evidence: "response_header" as const,
    billed: 2_000_000n,
  };
  const sound = {
    units: [unit],
    receipts: [{ sourceReference: "u1" }],
    logged: [logged],
    unclaimed: [],
    upstream: ["whole"],
    keyHashOf: (account: string) => `key of ${account}`,
  };
  it.each([
    ["is content with one receipt for one row", sound, 0],
    ["finds a wrong amount", { ...sound, units: [{ ...unit, billed: 1n }] }, 1],
    ["finds a receipt too many", { ...sound, receipts: [...sound.receipts, ...sound.receipts] }, 1],
    ["finds a receipt that is missing", { ...sound, receipts: [] }, 1],
    ["finds another tenant's key", { ...sound, logged: [{ ...logged, key_hash: "key of bob" }] }, 1],
    ["finds a call that stays in doubt", { ...sound, units: [{ ...unit, state: "in_doubt" as const }] }, 3],
    ["finds a row that no call claims", { ...sound, unclaimed: [logged] }, 1],
    ["finds a call that was never booked", { ...sound, units: [], receipts: [] }, 1],
  ])("%s", (_, charges, problems) =>
    expect(check({}, { charges })).toEqual(Array.from({ length: problems }, () => "wrongCharge")),
  );
});
