import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { describeEachStore } from "../../testing/describe-each-store.js";
import { readEvents } from "../../testing/sse-events.js";
import { testPerson } from "../../testing/test-person.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";

/** What a run leaves is seen a moment after its stream has ended. */
const PATIENT = { timeout: 10_000 };

describeEachStore("Feedback, kept in %s,", (storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: storeOf() });
  });
  afterAll(() => server.close());

  function person(account: string, subject?: string, role = "operator") {
    const headers = {
      "x-throughline-account": account,
      "x-throughline-role": role,
      ...(subject !== undefined && { "x-throughline-subject": subject }),
    };
    const { ask } = testPerson(() => server, headers);
    return {
      ask,
      async say(threadId: string, visibility = "private") {
        const body = {
          threadId,
          messages: [{ id: "said", role: "user", content: "Hello" }],
          forwardedProps: { throughline: { visibility } },
        };
        await readEvents(await server.post("/api/copilotkit/agent/chat/run", body, headers));
      },
      give: (threadId: string, body: object, query = "") =>
        ask("PUT", `/agents/chat/threads/${threadId}/feedback${query}`, body),
      list: async (path: string) => (await ask("GET", path)).body.feedback,
    };
  }
  const newAccount = () => `a-${randomUUID()}`;

  it("is a thumb and a note for each person and message, replaced and taken back", async () => {
    const ann = person(newAccount(), "ann");
    await ann.say("t");
    const path = "/agents/chat/threads/t/feedback";
    expect(
      await ann.give("t", { messageId: "a/1", runId: "r", value: "down", note: " Too long " }),
    ).toMatchObject({
      status: 200,
      body: {
        agentId: "langgraph:chat",
        threadName: "t",
        visibility: "private",
        messageId: "a/1",
        runId: "r",
        value: "down",
        note: "Too long",
        subject: "ann",
      },
    });
    await ann.give("t", { messageId: "a/1", value: "up" });
    expect(await ann.list(path)).toMatchObject([{ messageId: "a/1", runId: "r", value: "up", note: null }]);
    const gone = `${path}?messageId=${encodeURIComponent("a/1")}`;
    expect((await ann.ask("DELETE", gone)).status).toBe(204);
    expect(await ann.ask("DELETE", gone)).toMatchObject({ status: 404 });
    expect(await ann.list(path)).toEqual([]);
  });

  it("is refused for a thread that is not there, for viewers, and in a form that is not one", async () => {
    const account = newAccount();
    const ann = person(account, "ann");
    expect(await ann.give("none", { messageId: "m", value: "up" })).toMatchObject({ status: 404 });
    await ann.say("t");
    for (const wrong of [
      {},
      { messageId: "m" },
      { messageId: "m", value: "maybe" },
      { messageId: "", value: "up" },
    ]) {
      expect(await ann.give("t", wrong)).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    }
    const viewer = person(account, "ann", "viewer");
    expect(await viewer.give("t", { messageId: "m", value: "up" })).toMatchObject({ status: 403 });
    expect(await viewer.ask("GET", "/feedback")).toMatchObject({ status: 403 });
    expect(await viewer.list("/agents/chat/threads/t/feedback")).toEqual([]);
  });

  it("of the account is everyone's for an admin and one's own for anyone else, page by page, since a moment", async () => {
    const account = newAccount();
    const [ann, bob] = [person(account, "ann"), person(account, "bob")];
    await ann.say("own");
    await ann.say("shared", "account");
    await ann.give("own", { messageId: "m1", value: "up" });
    await ann.give("shared", { messageId: "m2", value: "down" }, "?visibility=account");
    await bob.give("shared", { messageId: "m2", value: "up" }, "?visibility=account");
    const whose = (rows: { subject: string; messageId: string }[]) =>
      rows.map(({ subject, messageId }) => `${subject} ${messageId}`).sort();
    expect(whose(await bob.list("/feedback"))).toEqual(["bob m2"]);
    expect(whose(await bob.list("/agents/chat/threads/shared/feedback?visibility=account"))).toEqual([
      "ann m2",
      "bob m2",
    ]);
    expect(await bob.list("/agents/chat/threads/own/feedback")).toEqual([]);
    const admin = person(account, "eve", "admin");
    const all = await admin.list("/feedback");
    expect(whose(all)).toEqual(["ann m1", "ann m2", "bob m2"]);
    const seen: unknown[] = [];
    let after = "";
    do {
      const { body } = await admin.ask("GET", `/feedback?limit=1${after}`);
      seen.push(...body.feedback);
      after = body.next === null ? "" : `&after=${body.next}`;
    } while (after !== "");
    expect(seen).toEqual(all);
    expect(await admin.list("/feedback?value=down")).toMatchObject([{ subject: "ann", value: "down" }]);
    expect(await admin.list(`/feedback?since=${all[0].updatedAt}`)).toContainEqual(all[0]);
    expect(await admin.list("/feedback?since=2099-01-01T00:00:00Z")).toEqual([]);
    expect(await person(newAccount(), "ann", "admin").list("/feedback")).toEqual([]);
  });

  it("stays when its thread is shared with the account, and when it is taken back", async () => {
    const ann = person(newAccount(), "ann", "admin");
    await ann.say("t");
    const { body } = await ann.ask("GET", "/agents/chat/threads/t/state");
    const messageId = body.messages.at(-1).id;
    await ann.give("t", { messageId, value: "down", note: "Too long" });
    await ann.give("t", { messageId: "left-behind", value: "up" });
    const [given] = await ann.list("/feedback?value=down");
    for (const visibility of ["account", "private"] as const) {
      const now = visibility === "account" ? "private" : "account";
      const path = `/agents/chat/threads/t/visibility?visibility=${now}`;
      expect(await ann.ask("PUT", path, { visibility })).toMatchObject({ status: 200 });
      const expected = [{ ...given, visibility }];
      expect(await ann.list(`/agents/chat/threads/t/feedback?visibility=${visibility}`)).toEqual(expected);
      expect(await ann.list("/feedback")).toEqual(expected);
    }
  });

  it("goes with its thread and with its person, is audited, and is in the account's export", async () => {
    const account = newAccount();
    const admin = person(account, "eve", "admin");
    const ann = person(account, "ann");
    await ann.say("t");
    await ann.say("shared", "account");
    await ann.give("t", { messageId: "m", value: "up", note: "secret-note-1" });
    await ann.give("shared", { messageId: "m", value: "up", note: "secret-note-2" }, "?visibility=account");
    const exported = await fetch(`${server.url}/account/export`, {
      headers: { "x-throughline-account": account, "x-throughline-subject": "ann" },
    });
    const archive = await exported.text();
    for (const note of ["secret-note-1", "secret-note-2"]) expect(archive).toContain(note);
    await vi.waitFor(async () => {
      const { body } = await admin.ask("GET", "/audit?action=give_feedback");
      expect(body.entries).toHaveLength(2);
      expect(JSON.stringify(body)).not.toContain("secret-note");
    }, PATIENT);
    await ann.ask("DELETE", "/agents/chat/threads/t");
    expect(await admin.list("/feedback")).toMatchObject([{ threadName: "shared" }]);
    await ann.ask("DELETE", "/account/data");
    await vi.waitFor(async () => expect(await admin.list("/feedback")).toEqual([]), PATIENT);
  });
});
