import { describe, expect, it } from "vitest";
import { type CallerInfo, createAccountApi, refusalOf } from "./account-api.js";

const OPERATOR: CallerInfo = {
  account: "acme",
  subject: "ann",
  role: "operator",
  actions: [
    { action: "run", does: "start runs", reach: "account" },
    { action: "delete_thread", does: "delete threads", reach: "own" },
    { action: "read_audit", does: "read the audit record", reach: null },
  ],
};

function answering(answer: Response | Error) {
  const asked: string[] = [];
  const api = createAccountApi({
    url: "http://service.test/",
    async fetch(input, init) {
      const body = init?.body instanceof Blob ? `${init.body.type} ${await init.body.text()}` : init?.body;
      asked.push(`${init?.method} ${String(input)} ${String(body ?? "")}`.trim());
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return { asked, api };
}

describe("the account's API", () => {
  it("says who the caller is", async () => {
    const { api, asked } = answering(Response.json(OPERATOR));
    expect(await api.caller()).toEqual(OPERATOR);
    expect(asked).toEqual(["GET http://service.test/me"]);
  });

  it("reads and changes whether a thread is shared", async () => {
    const thread = { agentId: "langgraph:poet", threadId: "a/b" };
    const read = answering(Response.json({ visibility: "private" }));
    expect(await read.api.visibility(thread)).toBe("private");
    expect(read.asked).toEqual(["GET http://service.test/agents/langgraph%3Apoet/threads/a%2Fb"]);
    const change = answering(Response.json({ visibility: "private" }));
    expect(await change.api.changeVisibility({ ...thread, visibility: "account" }, "private")).toBe(
      "private",
    );
    expect(change.asked).toEqual([
      'PUT http://service.test/agents/langgraph%3Apoet/threads/a%2Fb/visibility?visibility=account {"visibility":"private"}',
    ]);
  });

  it("lists threads under the names that a page has for them", async () => {
    const row = { agentId: "langgraph:poet", title: "Tides", archived: false, status: "idle" };
    const told = [
      { ...row, threadName: "mine", visibility: "private", lastActivityAt: "2026-01-02T00:00:00Z" },
      { ...row, threadName: "ours", visibility: "account", lastActivityAt: "2026-01-01T00:00:00Z" },
    ];
    const both = answering(Response.json({ threads: told, next: "p2" }));
    const page = await both.api.threads("langgraph:poet", { visibility: "all", search: "tide", limit: 2 });
    expect(both.asked).toEqual([
      "GET http://service.test/agents/langgraph%3Apoet/threads?visibility=all&search=tide&limit=2",
    ]);
    expect(page).toEqual({
      threads: [
        { ...row, threadId: "mine", lastActivityAt: "2026-01-02T00:00:00Z" },
        { ...row, threadId: "ours", visibility: "account", lastActivityAt: "2026-01-01T00:00:00Z" },
      ],
      next: "p2",
    });
    const own = answering(Response.json({ threads: told.slice(1), next: null }));
    expect(await own.api.threads("langgraph:poet")).toMatchObject({ threads: [{ threadId: "ours" }] });
    expect(own.asked).toEqual(["GET http://service.test/agents/langgraph%3Apoet/threads"]);
  });

  it("puts a file into a thread, as it is", async () => {
    const { api, asked } = answering(Response.json({ id: "f1", mimeType: "text/plain", bytes: 4 }));
    const file = new File(["tide"], "tides.txt", { type: "text/plain" });
    expect(await api.upload({ agentId: "poet", threadId: "t" }, file)).toEqual({
      id: "f1",
      mimeType: "text/plain",
    });
    expect(asked).toEqual([
      "POST http://service.test/agents/poet/threads/t/attachments?filename=tides.txt text/plain tide",
    ]);
  });

  it("gives what went wrong as a value", async () => {
    const refused = answering(Response.json({ code: "busy", message: "A run is active." }, { status: 409 }));
    expect(await refused.api.changeVisibility({ agentId: "a", threadId: "t" }, "account")).toMatchObject({
      kind: "refused",
      code: "busy",
      message: "A run is active.",
    });
    expect(await answering(new Error("gone")).api.caller()).toEqual({ kind: "network" });
  });
});

describe("refusalOf", () => {
  it("says why, in what is one's own and in what the account shares", () => {
    const shared = { visibility: "account" } as const;
    expect(refusalOf(OPERATOR, "run", shared)).toBeUndefined();
    expect(refusalOf(OPERATOR, "delete_thread")).toBeUndefined();
    expect(refusalOf(OPERATOR, "delete_thread", shared)).toBe(
      "The role operator may not delete threads that the account shares.",
    );
    expect(refusalOf(OPERATOR, "read_audit")).toBe("The role operator may not read the audit record.");
  });

  it("takes what the account shares for its own where the caller is no person", () => {
    const account = { ...OPERATOR, subject: null };
    expect(refusalOf(account, "delete_thread", { visibility: "account" })).toBeUndefined();
  });
});
