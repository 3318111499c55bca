import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeEachStore } from "../testing/describe-each-store.js";
import { createScriptedProvider } from "../testing/scripted-provider.js";
import { isType, readEvents, typesOf } from "../testing/sse-events.js";
import { testPerson } from "../testing/test-person.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";

describeEachStore("A thread of the account, kept in %s,", (storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: storeOf() });
  });
  afterAll(() => server.close());

  function person(account: string, subject: string | undefined, role?: string) {
    const headers = {
      "x-throughline-account": account,
      ...(subject !== undefined && { "x-throughline-subject": subject }),
      ...(role !== undefined && { "x-throughline-role": role }),
    };
    const { ask } = testPerson(() => server, headers);
    async function post(what: "run" | "connect", threadId: string, visibility?: string, content?: unknown) {
      return fetch(server.route("poet", what), {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({
          threadId,
          ...(content !== undefined && { messages: [{ id: randomUUID(), role: "user", content }] }),
          forwardedProps: { throughline: visibility === undefined ? {} : { visibility } },
        }),
      });
    }
    return {
      headers,
      ask,
      post,
      async say(threadId: string, content: unknown, visibility?: string) {
        return readEvents(await post("run", threadId, visibility, content));
      },
      async sees(threadId: string, visibility?: string) {
        const events = await readEvents(await post("connect", threadId, visibility));
        return JSON.stringify(events.find(isType("MESSAGES_SNAPSHOT"))?.data ?? null);
      },
      async names(visibility: string | undefined): Promise<string[]> {
        const query = visibility === undefined ? "" : `?visibility=${visibility}`;
        const { body } = await ask("GET", `/agents/poet/threads${query}`);
        const threads: { threadName: string; visibility: string }[] = body.threads;
        return threads.map((thread) => `${thread.visibility} ${thread.threadName}`).sort();
      },
    };
  }

  it("P73: is one thread for every person who names it, and for a caller without a subject", async () => {
    const account = `a-${randomUUID()}`;
    const [ann, bob, nobody] = [person(account, "ann"), person(account, "bob"), person(account, undefined)];
    expect(typesOf(await ann.say("plan", "ann's words", "account")).at(-1)).toBe("RUN_FINISHED");
    expect(await bob.sees("plan", "account")).toContain("ann's words");
    await bob.say("plan", "bob's words", "account");
    expect(await nobody.sees("plan")).toContain("bob's words");
    expect(await ann.sees("plan", "account")).toContain("bob's words");
    expect(await ann.sees("plan")).not.toContain("words");
  });

  it("P72: stands beside a private thread of the same name, in lists too", async () => {
    const account = `a-${randomUUID()}`;
    const [ann, bob, nobody] = [person(account, "ann"), person(account, "bob"), person(account, undefined)];
    await ann.say("plan", "private words");
    await ann.say("plan", "shared words", "account");
    await bob.say("bob's", "bob's private words");
    expect(await ann.sees("plan")).not.toContain("shared words");
    expect(await ann.sees("plan", "account")).not.toContain("private words");
    expect(await ann.names(undefined)).toEqual(["private plan"]);
    expect(await ann.names("private")).toEqual(["private plan"]);
    expect(await ann.names("account")).toEqual(["account plan"]);
    expect(await ann.names("all")).toEqual(["account plan", "private plan"]);
    expect(await nobody.names("all")).toEqual(["account plan"]);
    expect((await nobody.ask("GET", "/agents/poet/threads?visibility=private")).status).toBe(400);
    expect((await nobody.post("run", "plan", "private", "x")).status).toBe(200);
    expect(typesOf(await nobody.say("plan", "x", "private"))).toContain("RUN_ERROR");
  });

  it("P73: is read and not changed by a viewer, and private threads stay private to admins", async () => {
    const account = `a-${randomUUID()}`;
    const ann = person(account, "ann");
    const viewer = person(account, "vic", "viewer");
    const admin = person(account, "adam", "admin");
    await ann.say("plan", "shared words", "account");
    await ann.say("diary", "private words");
    expect(await viewer.sees("plan", "account")).toContain("shared words");
    expect((await viewer.post("run", "plan", "account", "x")).status).toBe(403);
    const path = "/agents/poet/threads/plan?visibility=account";
    expect((await viewer.ask("PATCH", path, { title: "mine" })).status).toBe(403);
    expect((await viewer.ask("DELETE", path)).status).toBe(403);
    for (const one of [admin, person(account, undefined)]) {
      expect(await one.sees("diary")).not.toContain("private words");
      expect(await one.sees("diary", "account")).not.toContain("private words");
      expect(await one.names("all")).toEqual(["account plan"]);
    }
    // An operator deletes what is theirs; what the account shares is for admins.
    expect((await ann.ask("DELETE", path)).status).toBe(403);
    expect((await admin.ask("DELETE", path)).status).toBe(202);
    expect(await ann.names("all")).toEqual(["private diary"]);
  });

  it("has files that its runs and its people find", async () => {
    const account = `a-${randomUUID()}`;
    const [ann, bob] = [person(account, "ann"), person(account, "bob")];
    const place = "/agents/poet/threads/files/attachments";
    const uploaded = await fetch(`${server.url}${place}?visibility=account`, {
      method: "POST",
      headers: { ...ann.headers, "content-type": "text/plain" },
      body: "high tide at noon",
    });
    const { id, url }: { id: string; url: string } = JSON.parse(await uploaded.text());
    const part = { type: "document", source: { type: "url", value: url, mimeType: "text/plain" } };
    const events = await bob.say("files", [{ type: "text", text: "Read this" }, part], "account");
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
    const read = (query: string) => fetch(`${server.url}${place}/${id}${query}`, { headers: bob.headers });
    expect(await (await read("?visibility=account")).text()).toBe("high tide at noon");
    expect((await read("")).status).toBe(404);
  });

  it("begins with a start that says so, through POST /runs too", async () => {
    const account = `a-${randomUUID()}`;
    const [ann, bob] = [person(account, "ann"), person(account, "bob")];
    const start = async (who: typeof ann, visibility: string | undefined) => {
      const response = await fetch(`${server.url}/runs`, {
        method: "POST",
        headers: { ...who.headers, "content-type": "application/json" },
        body: JSON.stringify({
          accountId: account,
          runId: randomUUID(),
          stateKey: "plan",
          graphName: "poet",
          model: "offline",
          messages: [{ role: "user", content: `${visibility ?? "default"} words` }],
          requestId: "r",
          traceId: "t",
          visibility,
        }),
      });
      return { status: response.status, text: await response.text() };
    };
    expect((await start(ann, undefined)).status).toBe(200);
    expect((await start(ann, "account")).status).toBe(200);
    expect(await bob.names("all")).toEqual(["account plan"]);
    expect(await ann.names("all")).toEqual(["account plan", "private plan"]);
    expect(await bob.sees("plan", "account")).toContain("account words");
    expect(await ann.sees("plan")).toContain("default words");
    expect((await start(person(account, "vic", "viewer"), "account")).status).toBe(403);
    expect((await start(ann, "public")).status).toBe(400);
    expect((await start(person(account, undefined), "private")).status).toBe(400);
  });

  it("P83: was private until its person shared it, and is an admin's to make private", async () => {
    const account = `a-${randomUUID()}`;
    const [ann, bob] = [person(account, "ann"), person(account, "bob")];
    const admin = person(account, "adam", "admin");
    await ann.say("plan", "ann's words");
    await ann.ask("PATCH", "/agents/poet/threads/plan", { title: "The plan" });
    const path = "/agents/poet/threads/plan/visibility";
    const shared = { visibility: "account" };
    expect((await person(account, "vic", "viewer").ask("PUT", path, shared)).status).toBe(403);
    expect((await bob.ask("PUT", path, shared)).status).toBe(404);
    expect(await ann.ask("PUT", path, shared)).toMatchObject({
      status: 200,
      body: { threadName: "plan", visibility: "account", title: "The plan", titledByPerson: true },
    });
    expect(await ann.names("all")).toEqual(["account plan"]);
    expect(await bob.sees("plan", "account")).toContain("ann's words");
    await bob.say("plan", "bob's words", "account");
    expect(await ann.sees("plan", "account")).toContain("bob's words");
    expect((await ann.ask("PUT", `${path}?visibility=account`, { visibility: "private" })).status).toBe(403);
    const taken = await admin.ask("PUT", `${path}?visibility=account`, { visibility: "private" });
    expect([taken.status, taken.body.visibility]).toEqual([200, "private"]);
    expect(await ann.names("all")).toEqual([]);
    expect(await admin.sees("plan")).toContain("bob's words");
    // One of the same name is in the way.
    await bob.say("plan", "another plan", "account");
    expect(await admin.ask("PUT", path, shared)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await admin.sees("plan")).toContain("bob's words");
  });

  it("is forked into a private one, and a private one into one of the account", async () => {
    const account = `a-${randomUUID()}`;
    const [ann, bob] = [person(account, "ann"), person(account, "bob")];
    await ann.say("plan", "shared words", "account");
    const fork = (path: string, body: object) => bob.ask("POST", `/agents/poet/threads/${path}`, body);
    const own = { threadName: "mine", visibility: "private" };
    const made = await fork("plan/fork?visibility=account", own);
    expect([made.status, made.body.visibility]).toEqual([201, "private"]);
    expect(await bob.sees("mine")).toContain("shared words");
    expect(await ann.sees("mine", "account")).not.toContain("shared words");
    const shared = await fork("mine/fork", { threadName: "ours", visibility: "account" });
    expect([shared.status, shared.body.visibility]).toEqual([201, "account"]);
    expect(await ann.sees("ours", "account")).toContain("shared words");
  });
});

describe("A person", () => {
  it("P84: is told who they are and how far each action reaches", async () => {
    const server = await startTestServer();
    try {
      const me = async (headers: Record<string, string>) =>
        JSON.parse(await (await fetch(`${server.url}/me`, { headers })).text());
      const viewer = await me({
        "x-throughline-account": "acme",
        "x-throughline-subject": "vic",
        "x-throughline-role": "viewer",
      });
      expect(viewer).toMatchObject({ account: "acme", subject: "vic", role: "viewer" });
      expect(viewer.actions).toContainEqual({ action: "read", does: expect.any(String), reach: "account" });
      expect(viewer.actions).toContainEqual({ action: "run", does: "start runs", reach: null });
      const account = await me({ "x-throughline-account": "acme" });
      expect(account).toMatchObject({ subject: null, role: "admin" });
      expect(account.actions).toContainEqual(
        expect.objectContaining({ action: "delete_data", reach: "everyone" }),
      );
    } finally {
      await server.close();
    }
  });
});

describe("A move of a thread", () => {
  it("P83: is refused while a run is active", async () => {
    const provider = createScriptedProvider();
    const server = await startTestServer({ graphs: provider });
    try {
      const headers = { "x-throughline-account": "acme", "x-throughline-subject": "ann" };
      const say = () =>
        server.post(
          "/api/copilotkit/agent/scripted/run",
          { threadId: "plan", messages: [{ id: randomUUID(), role: "user", content: "x" }] },
          headers,
        );
      const first = say();
      (await provider.nextRun()).end();
      await readEvents(await first);
      const second = say();
      const running = await provider.nextRun();
      const refused = await fetch(`${server.url}/agents/scripted/threads/plan/visibility`, {
        method: "PUT",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ visibility: "account" }),
      });
      expect([refused.status, JSON.parse(await refused.text()).code]).toEqual([409, "busy"]);
      running.end();
      await readEvents(await second);
    } finally {
      await server.close();
    }
  });
});

describe("A run in a thread of the account", () => {
  it("P74: acts for the account, whoever started it, and one in a private thread for its person", async () => {
    const provider = createScriptedProvider();
    const server = await startTestServer({ graphs: provider });
    try {
      for (const [visibility, subject] of [
        ["account", undefined],
        ["private", "ann"],
      ] as const) {
        const answer = server.post(
          "/api/copilotkit/agent/scripted/run",
          {
            threadId: "plan",
            messages: [{ id: randomUUID(), role: "user", content: "x" }],
            forwardedProps: { throughline: { visibility } },
          },
          { "x-throughline-account": "acme", "x-throughline-subject": "ann" },
        );
        const run = await provider.nextRun();
        expect([visibility, run.request.caller.subject]).toEqual([visibility, subject]);
        run.end();
        await readEvents(await answer);
      }
    } finally {
      await server.close();
    }
  });
});
