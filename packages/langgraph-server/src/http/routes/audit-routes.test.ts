import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEvents } from "../../testing/sse-events.js";
import { openTestPostgres, type TestPostgres } from "../../testing/test-postgres.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await openTestPostgres();
});
afterAll(() => postgres.close());

interface Entry {
  readonly action: string;
  readonly outcome: string;
  readonly role: string;
  readonly subject: string | null;
  readonly at: string;
  readonly requestId: string;
  readonly route: string;
  readonly address?: string;
  readonly code?: string;
  readonly answer?: string;
  readonly target: Readonly<Record<string, unknown>>;
}

describe.each([
  ["memory", () => ({ kind: "memory" as const })],
  ["PostgreSQL", () => ({ kind: "postgres" as const, databaseUrl: postgres.url })],
])("The audit record over HTTP, kept in %s,", (_, storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: storeOf() });
  });
  afterAll(() => server.close());

  function people() {
    const account = `a-${randomUUID()}`;
    const as = (subject: string, role: string) => {
      const headers = {
        "x-throughline-account": account,
        "x-throughline-subject": subject,
        "x-throughline-role": role,
      };
      async function ask(method: string, path: string, body?: unknown) {
        const response = await fetch(`${server.url}${path}`, {
          method,
          headers: {
            ...headers,
            "x-request-id": `${subject}-asks`,
            ...(body !== undefined && { "content-type": "application/json" }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return { status: response.status, text: await response.text() };
      }
      return {
        ask,
        run: (agent: string, body: object) =>
          server.post(`/api/copilotkit/agent/${agent}/run`, body, headers).then(readEvents),
      };
    };
    async function entries(query = ""): Promise<Entry[]> {
      await server.service.audit.flush();
      const { text } = await as("adam", "admin").ask("GET", `/audit${query}`);
      return JSON.parse(text).entries;
    }
    return { account, as, entries };
  }

  it("P75: says who answered what, and what they made of it", async () => {
    const { as, entries } = people();
    const [ann, bob] = [as("ann", "operator"), as("bob", "approver")];
    const shared = { threadId: "trip", forwardedProps: { throughline: { visibility: "account" } } };
    const asked = await ann.run("travel", {
      ...shared,
      protocolVersion: "1.0",
      messages: [{ id: "m1", role: "user", content: "from Amsterdam to San Francisco, for Lisbon" }],
    });
    const { interrupts } = JSON.parse(JSON.stringify(asked.at(-1)?.data.outcome));
    const interruptId: string = interrupts[0].id;
    const payload = { ...interrupts[0].metadata.langgraph.raw.options[0], note: "another flight" };
    await bob.run("travel", { ...shared, resume: [{ interruptId, status: "resolved", payload }] });
    const [entry, ...others] = await entries("?action=answer");
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      action: "answer",
      outcome: "done",
      role: "approver",
      subject: "bob",
      target: {
        agentId: "langgraph:travel",
        threadName: "trip",
        visibility: "account",
        interruptIds: [interruptId],
        runId: expect.any(String),
      },
    });
    expect(entry?.answer).toContain("another flight");
    expect(JSON.stringify(await entries())).not.toContain("Lisbon");
    // Answered already: allowed, and it did not come about.
    await bob.run("travel", { ...shared, resume: [{ interruptId, status: "resolved", payload: "again" }] });
    expect((await entries("?action=answer"))[0]).toMatchObject({ outcome: "failed", code: "conflict" });
  });

  it("P75: holds stops, deletions, changes of crons and refusals, with who, from where and how it ended", async () => {
    const { as, entries } = people();
    const [ann, vic] = [as("ann", "operator"), as("vic", "viewer")];
    await ann.ask("POST", "/api/copilotkit/agent/poet/stop/river", { runId: "r1" });
    const created = await ann.ask("POST", "/crons", {
      agent: "poet",
      schedule: "0 0 1 1 *",
      input: { message: "A line" },
    });
    const { id: cronId }: { id: string } = JSON.parse(created.text);
    await ann.ask("POST", `/crons/${cronId}/pause`);
    await ann.ask("DELETE", `/crons/${cronId}`);
    await ann.ask("DELETE", `/crons/${cronId}`);
    await ann.ask("GET", "/crons");
    const [stop] = await entries("?subject=ann&action=stop");
    expect(stop?.target).toMatchObject({ threadName: "river", runId: "r1", visibility: "private" });
    expect(stop?.route).toBe("POST /api/copilotkit/agent/:agentId/stop/:threadId");
    await ann.ask("DELETE", "/agents/poet/threads/river");
    await vic.ask("POST", "/api/copilotkit/agent/poet/stop/river", {});
    await vic.ask("POST", "/api/copilotkit/agent/poet/run", { threadId: "river" });
    const found = await entries();
    const told = found.map(({ subject, action, outcome, code }) =>
      [subject, action, outcome, ...(code === undefined ? [] : [code])].join(" "),
    );
    expect(told.sort()).toEqual(
      [
        "ann stop done",
        "ann schedule done",
        "ann schedule done",
        "ann schedule done",
        "ann schedule failed not_found",
        "ann delete_thread done",
        "vic stop refused forbidden",
        "vic run refused forbidden",
      ].sort(),
    );
    for (const entry of found) {
      expect(entry.requestId).toBe(`${entry.subject}-asks`);
      expect(entry.address).toMatch(/127\.0\.0\.1|::1/);
      expect(Math.abs(Date.parse(entry.at) - Date.now())).toBeLessThan(60_000);
    }
    const [redacted] = await entries("?subject=ann&action=stop");
    expect(redacted?.target).toMatchObject({ runId: "r1" });
    expect(redacted?.target).not.toHaveProperty("threadName");
    const deletion = found.find(({ action }) => action === "delete_thread");
    expect(deletion?.target).toMatchObject({
      deletionId: expect.any(String),
      threadHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(deletion?.target).not.toHaveProperty("threadName");
    expect(await entries("?subject=vic")).toHaveLength(2);
    expect(await entries("?subject=vic&action=stop")).toHaveLength(1);
  });

  it("is paged, and exported as one JSON line an entry, oldest first", async () => {
    const { as, entries } = people();
    for (let n = 0; n < 5; n += 1) {
      await as("ann", "operator").ask("POST", `/api/copilotkit/agent/poet/stop/t${n}`, {});
    }
    await server.service.audit.flush();
    const admin = as("adam", "admin");
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const query: string = after === null ? "" : `&after=${after}`;
      const { text } = await admin.ask("GET", `/audit?limit=2${query}`);
      const page: { entries: { id: string }[]; next: string | null } = JSON.parse(text);
      seen.push(...page.entries.map(({ id }) => id));
      after = page.next;
    } while (after !== null);
    expect(seen).toHaveLength(5);
    const { text } = await admin.ask("GET", "/audit/export");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line): { id: string; at: string } => JSON.parse(line));
    expect(lines.map(({ id }) => id)).toEqual(seen.toReversed());
    expect((await entries("?limit=100")).length).toBe(5);
  });

  it("is an admin's of the account, and nobody else's", async () => {
    const { as } = people();
    await as("ann", "operator").ask("POST", "/api/copilotkit/agent/poet/stop/secret-river", {});
    await server.service.audit.flush();
    for (const role of ["viewer", "operator", "approver"]) {
      expect((await as("ann", role).ask("GET", "/audit")).status).toBe(403);
      expect((await as("ann", role).ask("GET", "/audit/export")).status).toBe(403);
    }
    const stranger = people().as("ann", "admin");
    for (const path of ["/audit", "/audit/export", "/audit?subject=ann"]) {
      expect((await stranger.ask("GET", path)).text).not.toContain("secret-river");
    }
  });
});
