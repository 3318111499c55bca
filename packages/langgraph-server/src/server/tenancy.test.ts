import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { ROLES } from "../accounts/actions.js";
import { madeCall } from "../testing/made-call.js";
import {
  createScriptedProvider,
  type ScriptedProvider,
  type ScriptedRun,
} from "../testing/scripted-provider.js";
import { isType, readEvents, typesOf } from "../testing/sse-events.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";

const SECRET = "the-owners-secret-words";
const PROBES_SENT = Number(process.env.THROUGHLINE_PROPERTY_RUNS ?? 1_500);
const AT_ONCE = 10;
const idSchema = z.object({ id: z.string().optional(), checkpointId: z.string().optional() });
const OWNER = { "x-throughline-account": "owner", "x-throughline-subject": "ann" };

let server: TestServer;
let provider: ScriptedProvider;
let open: ScriptedRun;
let owners: Promise<unknown>;
/** Ids of what the owner has, all of which every stranger knows. */
let theirs: { readonly checkpointId: string; readonly cronId: string; readonly fileId: string };
beforeAll(async () => {
  provider = createScriptedProvider();
  server = await startTestServer({ graphs: provider });
  const run = (threadId: string, runId: string) =>
    server.post(
      "/api/copilotkit/agent/scripted/run",
      { threadId, runId, messages: [{ id: `m-${runId}`, role: "user", content: SECRET }] },
      OWNER,
    );
  const done = run("done", "done-run");
  const first = await provider.nextRun();
  first.say(SECRET);
  first.end();
  await readEvents(await done);
  const file = await fetch(`${server.url}${FILES}`, {
    method: "POST",
    headers: { ...OWNER, "content-type": "text/plain" },
    body: SECRET,
  });
  const cron = await server.post(
    "/crons",
    { agent: "scripted", schedule: "0 0 1 1 *", input: { message: SECRET } },
    OWNER,
  );
  const call = { account: "owner", subject: "ann", runId: "m-done-run", model: SECRET, requestId: SECRET };
  await madeCall(server.service.billing.ledger, { ...call, cost: "123.456" });
  await madeCall(server.service.billing.ledger, call);
  const budget = { day: 123_456n * 10n ** 9n, month: null, softPercent: null };
  await server.service.billing.budgets.set("owner", "ann", budget);
  const state = await get("/agents/scripted/threads/done/state", OWNER);
  theirs = {
    checkpointId: idSchema.parse(await state.json()).checkpointId ?? "",
    cronId: idSchema.parse(await cron.json()).id ?? "",
    fileId: idSchema.parse(await file.json()).id ?? "",
  };
  expect(Object.values(theirs)).not.toContain("");
  owners = run("open", "open-run").then((response) => readEvents(response));
  open = await provider.nextRun();
  open.say(SECRET);
});
afterAll(() => server.close());

/** All but the owner: other accounts, other people of the account, callers who act for it; in every role. */
const stranger = fc
  .tuple(
    fc.constantFrom<Record<string, string>>(
      { "x-throughline-account": "stranger" },
      { "x-throughline-account": "stranger", "x-throughline-subject": "ann" },
      { "x-throughline-account": "owner" },
      { "x-throughline-account": "owner", "x-throughline-subject": "bob" },
      { "x-throughline-account": "owner", "x-throughline-subject": "Ann" },
      { "x-throughline-account": "owner", "x-throughline-subject": "@ann" },
      { "x-throughline-account": "owner", "x-throughline-subject": "ann%2F" },
      { "x-throughline-account": "owner-ann" },
      { "x-throughline-account": "Owner", "x-throughline-subject": "ann" },
    ),
    fc.constantFrom(...ROLES),
  )
  .map(([who, role]) => ({ ...who, "x-throughline-role": role }));
const threadName = () =>
  fc.constantFrom(
    "done",
    "open",
    "owner:@ann/scripted/open",
    "@ann/scripted/done",
    "scripted/open",
    open.request.threadId,
    open.request.stateKey,
    "../owner/open",
    "OPEN",
    "d\u006fne",
  );
const runId = () => fc.constantFrom("open-run", "done-run", open.request.runId);

/** In every way that a request can say it. */
const visibility = fc.constantFrom(undefined, "private", "account", "all");

interface Probe {
  readonly who: Record<string, string>;
  readonly thread: string;
  readonly run: string;
  readonly route: string;
  readonly visibility: string | undefined;
  readonly cursor: string | undefined;
}

async function disturbsNothing(probe: Probe): Promise<void> {
  const { who, cursor, run, route } = probe;
  const headers = { ...who, ...(cursor !== undefined && { "last-event-id": cursor }) };
  const response = await PROBES[route]?.(probe, headers);
  const text = (await response?.text()) ?? "no such probe";
  expect(response?.status, text).toBeLessThan(500);
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain("123.456");
  expect(text).not.toContain(`m-${run}`);
  expect(text).not.toContain(theirs.checkpointId);
  if (route.includes("stop")) expect(text).not.toMatch(/"outcome":"(stopping|cancelled|ended)"/);
  if (route.includes("stop")) expect(text).not.toMatch(/"stop":"(stopping|cancelled|ended)"/);
}

describe("a stranger", () => {
  it(
    "reads, changes, stops and deletes nothing of the owner's, whatever is known and whoever asks",
    async () => {
      const probe = fc.record({
        who: stranger,
        thread: threadName(),
        run: runId(),
        route: fc.constantFrom(...Object.keys(PROBES)),
        visibility,
        cursor: fc.constantFrom(undefined, "-1", "0"),
      });
      const probes = fc.array(probe, { minLength: AT_ONCE, maxLength: AT_ONCE });
      await fc.assert(
        fc.asyncProperty(probes, async (sent) => {
          await Promise.all(sent.map(disturbsNothing));
          expect(open.request.signal.aborted).toBe(false);
        }),
        { numRuns: Math.ceil(PROBES_SENT / AT_ONCE), seed: 21 },
      );
    },
    60_000 + 30 * PROBES_SENT,
  );

  it("has changed nothing that the owner sees", async () => {
    const seen = await Promise.all(
      ["", "/runs", "/state"].map((part) => get(`/agents/scripted/threads/done${part}`, OWNER)),
    );
    const [listing, runs, state] = await Promise.all(seen.map((answer) => answer.json()));
    expect(listing).toMatchObject({ title: SECRET, archived: false, visibility: "private" });
    expect(runs).toMatchObject({ runs: [{ clientRunId: "done-run", status: "success" }] });
    expect(state).toMatchObject({ checkpointId: theirs.checkpointId });
    expect(await (await get(`/crons/${theirs.cronId}`, OWNER)).json()).toMatchObject({ enabled: true });
    expect(await (await get(`${FILES}/${theirs.fileId}`, OWNER)).text()).toContain(SECRET);
    const { budgets } = await json("/budgets");
    expect(budgets).toMatchObject([{ subject: "ann", day: "123.456" }]);
    expect(await json("/usage?by=model")).toMatchObject({ rows: [{ key: SECRET, cost: "123.456" }] });
  });

  it("has threads of its own under the owner's names and run ids", async () => {
    const own = server.post(
      "/api/copilotkit/agent/scripted/run",
      { threadId: "open", runId: "open-run", messages: [{ id: "mine", role: "user", content: "mine" }] },
      { "x-throughline-account": "neighbour" },
    );
    const run = await provider.nextRun();
    expect(run.request.threadId).not.toBe(open.request.threadId);
    run.say("yours");
    run.end();
    expect(typesOf(await readEvents(await own)).at(-1)).toBe("RUN_FINISHED");
  });

  it("leaves the owner's run as it was: it goes on and ends", async () => {
    open.end();
    await owners;
    const mine = await readEvents(
      await server.post("/api/copilotkit/agent/scripted/connect", { threadId: "open" }, OWNER),
    );
    expect(JSON.stringify(mine.find(isType("MESSAGES_SNAPSHOT"))?.data)).toContain(SECRET);
  });
});

const BASE = "/api/copilotkit";
const CHAT = "/api/ai-sdk/scripted/chat";
const FILES = "/agents/scripted/threads/done/attachments";

function get(path: string, headers: Record<string, string>, method = "GET"): Promise<Response> {
  return fetch(`${server.url}${path}`, { method, headers });
}

/** As the owner reads it. */
async function json(path: string): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse(await (await get(path, OWNER)).text());
}

function patch(path: string, body: object, headers: Record<string, string>): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: "PATCH",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

type Ask = (probe: Probe, headers: Record<string, string>) => Promise<Response>;

/** With the visibility in the query, as routes of a thread take it. */
function ofThread(part: string, more = ""): (probe: Probe) => string {
  return ({ thread, visibility: whose }) => {
    const query = whose === undefined ? more : `${more}&visibility=${whose}`;
    return `/agents/scripted/threads/${encodeURIComponent(thread)}${part}?${query}`;
  };
}

function ofChat(part: string): (probe: Probe) => string {
  return ({ thread, visibility: whose }) =>
    `${CHAT}/${encodeURIComponent(thread)}${part}${whose === undefined ? "" : `?visibility=${whose}`}`;
}

function reading(part: string, more?: string): Ask {
  const path = ofThread(part, more);
  return (probe, headers) => get(path(probe), headers);
}

/** As AG-UI takes it: in the body. */
function inputOf({ thread, visibility: whose }: Probe, more: object = {}, rest: object = {}): object {
  const throughline = { ...more, ...(whose !== undefined && { visibility: whose }) };
  return { threadId: thread, forwardedProps: { throughline }, ...rest };
}

function envelope(method: string, inner: (probe: Probe) => object): Ask {
  return (probe, headers) => {
    const params = { agentId: "scripted", threadId: probe.thread };
    return server.post(BASE, { method, params, body: inner(probe) }, headers);
  };
}

function resource(httpMethod: string, part: string, body: object): Ask {
  return ({ thread, visibility: whose }, headers) => {
    const query = whose === undefined ? "" : `?visibility=${whose}`;
    const params = { httpMethod, path: `/threads/${encodeURIComponent(thread)}${part}${query}` };
    return server.post(BASE, { method: "resource/request", params, body }, headers);
  };
}

/** An admin of the account may act on what is its people's, by routes for the account as a whole. */
const isEntitled = (headers: Record<string, string>) =>
  headers["x-throughline-account"] === "owner" && headers["x-throughline-role"] === "admin";
/** All others ask for what is the owner's. */
const whomOf = (headers: Record<string, string>) => (isEntitled(headers) ? "bob" : "ann");

const whoseOf = ({ visibility: whose }: Probe) => (whose === undefined ? {} : { visibility: whose });
const AGENT = { agentId: "scripted" };
const answering = (probe: Probe) =>
  inputOf(probe, {}, { resume: [{ interruptId: "q", status: "resolved", payload: "yes" }] });

const PROBES: Readonly<Record<string, Ask>> = {
  connect: (probe, headers) => server.post(`${BASE}/agent/scripted/connect`, inputOf(probe), headers),
  poll: (probe, headers) =>
    server.post(`${BASE}/agent/scripted/run`, inputOf(probe, { command: { name: "poll" } }), headers),
  answer: (probe, headers) => server.post(`${BASE}/agent/scripted/run`, answering(probe), headers),
  "stop-command": (probe, headers) => {
    const command = { name: "stop", args: { runId: probe.run } };
    return server.post(`${BASE}/agent/scripted/run`, inputOf(probe, { command }), headers);
  },
  stop: (probe, headers) => {
    const path = `${BASE}/agent/scripted/stop/${encodeURIComponent(probe.thread)}`;
    return server.post(path, { runId: probe.run, ...whoseOf(probe) }, headers);
  },
  "stop-all": (probe, headers) =>
    server.post(`${BASE}/agent/scripted/stop/${encodeURIComponent(probe.thread)}`, whoseOf(probe), headers),
  "single-connect": envelope("agent/connect", inputOf),
  "single-answer": envelope("agent/run", answering),
  "single-stop": envelope("agent/stop", (probe) => ({ runId: probe.run, ...whoseOf(probe) })),
  "chat-answer": (probe, headers) => {
    const resume = [{ interruptId: "q", status: "resolved", payload: "yes" }];
    return server.post(CHAT, { id: probe.thread, resume, ...whoseOf(probe) }, headers);
  },
  "chat-messages": (probe, headers) => get(ofChat("")(probe), headers),
  "chat-stream": (probe, headers) => get(ofChat("/stream")(probe), headers),
  "chat-stop": (probe, headers) => get(ofChat("/stop")(probe), headers, "POST"),
  events: reading("/events", "follow=false"),
  listing: reading(""),
  state: reading("/state"),
  "state-at": (probe, headers) =>
    get(ofThread("/state", `checkpointId=${theirs.checkpointId}`)(probe), headers),
  history: reading("/history"),
  runs: reading("/runs"),
  rename: (probe, headers) => patch(ofThread("")(probe), { title: "mine", archived: true }, headers),
  fork: (probe, headers) =>
    server.post(
      ofThread("/fork")(probe),
      { threadName: "fork", checkpointId: theirs.checkpointId, ...whoseOf(probe) },
      headers,
    ),
  delete: (probe, headers) => get(ofThread("")(probe), headers, "DELETE"),
  list: ({ visibility: whose }, headers) =>
    get(`/agents/scripted/threads?archived=all${whose === undefined ? "" : `&visibility=${whose}`}`, headers),
  search: ({ visibility: whose = "all" }, headers) =>
    get(`/agents/scripted/threads?search=secret&visibility=${whose}`, headers),
  "copilotkit-list": ({ visibility: whose = "all" }, headers) =>
    get(`${BASE}/threads?includeArchived=true&visibility=${whose}`, headers),
  "copilotkit-rename": resource("PATCH", "", { ...AGENT, name: "mine" }),
  "copilotkit-archive": resource("POST", "/archive", AGENT),
  "copilotkit-delete": resource("DELETE", "", AGENT),
  file: (probe, headers) => get(ofThread(`/attachments/${theirs.fileId}`)(probe), headers),
  upload: (probe, headers) =>
    fetch(`${server.url}${ofThread("/attachments")(probe)}`, {
      method: "POST",
      headers: { ...headers, "content-type": "text/plain" },
      body: "a stranger's words",
    }),
  crons: (_, headers) => get("/crons", headers),
  cron: (_, headers) => get(`/crons/${theirs.cronId}`, headers),
  ticks: (_, headers) => get(`/crons/${theirs.cronId}/ticks`, headers),
  "cron-change": (_, headers) => patch(`/crons/${theirs.cronId}`, { enabled: false }, headers),
  "cron-pause": (_, headers) => server.post(`/crons/${theirs.cronId}/pause`, {}, headers),
  "cron-run": (_, headers) => server.post(`/crons/${theirs.cronId}/run`, {}, headers),
  "cron-delete": (_, headers) => get(`/crons/${theirs.cronId}`, headers, "DELETE"),
  store: (_, headers) => get("/store/items", headers),
  info: (_, headers) => get(`${BASE}/info`, headers),
  // An admin of the account may delete a person's data; all others ask for the owner's.
  "delete-data": (_, headers) => get(`/account/data?subject=${whomOf(headers)}`, headers, "DELETE"),
  "delete-another-account": (_, headers) =>
    get(
      "/account/data?accountId=owner&subject=ann",
      { ...headers, "x-throughline-account": "else" },
      "DELETE",
    ),
  usage: (_, headers) => get(`/usage?by=model&subject=${whomOf(headers)}`, headers),
  "usage-csv": (_, headers) => get(`/usage?by=model&format=csv&subject=${whomOf(headers)}`, headers),
  "usage-own": (_, headers) => get(isEntitled(headers) ? "/me" : "/usage?by=model", headers),
  statement: (_, headers) => get(`/usage/statement?subject=${whomOf(headers)}`, headers),
  unresolved: (_, headers) => get(`/usage/unresolved?subject=${whomOf(headers)}`, headers),
  "unresolved-own": (_, headers) => get(isEntitled(headers) ? "/me" : "/usage/unresolved", headers),
  unbilled: (_, headers) => get(`/usage/unbilled?subject=${whomOf(headers)}`, headers),
  "unbilled-own": (_, headers) => get(isEntitled(headers) ? "/me" : "/usage/unbilled", headers),
  budgets: (_, headers) => get(isEntitled(headers) ? "/me" : "/budgets", headers),
  "budgets-me": (_, headers) => get("/budgets/me", headers),
  "budget-set": (_, headers) =>
    fetch(`${server.url}/budgets/${whomOf(headers)}`, {
      method: "PUT",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ day: "1" }),
    }),
  "budget-delete": (_, headers) => get(`/budgets/${whomOf(headers)}`, headers, "DELETE"),
  models: (_, headers) => get("/models", headers),
  export: (_, headers) => get(`/account/export?subject=${whomOf(headers)}`, headers),
  audit: (_, headers) => get("/audit", headers),
  "audit-export": (_, headers) => get("/audit/export", headers),
};
