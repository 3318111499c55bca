import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Action, isAction, type Reach, ROLES, type Role } from "../accounts/actions.js";
import { may } from "../accounts/policy.js";
import type { OpenApiDocument } from "../http/openapi-shape.js";
import { type ListedOperation, listOperations } from "../testing/documented-request.js";

import { startTestServer, type TestServer } from "../testing/test-server.js";

let server: TestServer;
let operations: ListedOperation[];
beforeAll(async () => {
  server = await startTestServer();
  // A parsed boundary: our own answer.
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApiDocument;
  operations = listOperations({ document });
});
afterAll(() => server.close());

interface Case {
  readonly action: Action;
  readonly reach: Reach;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

const THREAD = { threadId: "t" };
const COMMAND = (name: string) => ({ ...THREAD, forwardedProps: { throughline: { command: { name } } } });
const ANSWER = { ...THREAD, resume: [{ interruptId: "q", status: "resolved", payload: "yes" }] };
const LEGACY_ANSWER = { ...THREAD, forwardedProps: { command: { resume: "yes" } } };
const params = { agentId: "poet", threadId: "t" };

/** Every way in which the body says which action it is. */
const RUNS: readonly (readonly [Action, object])[] = [
  ["run", {}],
  ["run", COMMAND("sync")],
  ["read", COMMAND("poll")],
  ["stop", COMMAND("stop")],
  ["answer", COMMAND("ask_again")],
  ["answer", ANSWER],
  ["answer", LEGACY_ANSWER],
];
const BACKEND_RUNS: readonly (readonly [Action, object])[] = [
  ["run", {}],
  ["answer", { answers: { q: "yes" } }],
];
const CHATS: readonly (readonly [Action, object])[] = [
  ["run", { id: "t" }],
  ["answer", { id: "t", resume: ANSWER.resume }],
];
const ENVELOPES: readonly (readonly [Action, object])[] = [
  ["read", { method: "info" }],
  ...RUNS.map(([action, body]) => [action, { method: "agent/run", params, body }] as const),
  ["read", { method: "agent/connect", params, body: THREAD }],
  ["stop", { method: "agent/stop", params }],
  ["read", { method: "resource/request", params: { path: "/threads" } }],
  ["edit", { method: "resource/request", params: { path: "/threads/t", httpMethod: "PATCH" } }],
  ["edit", { method: "resource/request", params: { path: "/threads/t/archive", httpMethod: "POST" } }],
  ["delete_thread", { method: "resource/request", params: { path: "/threads/t", httpMethod: "DELETE" } }],
];

/** Of an operation as a person asks for what is their own; of the envelope and of runs, every wish they can carry. */
function casesOf({ method, path, operation }: ListedOperation): Case[] {
  const filled = path.replace("{agentId}", "poet").replaceAll(/\{\w+\}/g, "t");
  const isEndless = /\/(events|follow)$/.test(filled);
  const place = { method, path: isEndless ? `${filled}?follow=false` : filled };
  const action = operation["x-throughline-action"] ?? "";
  const body = operation.requestBody?.content["application/json"] ? { body: { agentId: "poet" } } : {};
  if (isAction(action)) return [{ action, reach: "own", ...place, ...body }];
  return wishesOf(path).map(([wish, sent]) => ({ action: wish, reach: "own", ...place, body: sent }));
}

function wishesOf(path: string): readonly (readonly [Action, object])[] {
  if (path === "/runs") return BACKEND_RUNS;
  if (path.endsWith("/chat")) return CHATS;
  return path.endsWith("/run") ? RUNS : ENVELOPES;
}

const shared = { visibility: "account" };
const props = (more: object = {}) => ({ ...THREAD, forwardedProps: { throughline: { ...shared, ...more } } });
const COPILOTKIT = "/api/copilotkit";
const CHAT = "/api/ai-sdk/poet/chat";

/** The same where it can name what the account shares, or what is other people's. */
function fartherCases(): Case[] {
  const named = operations
    .filter(({ path }) => path.includes("{threadName}"))
    .flatMap(casesOf)
    .map(({ path, ...rest }): Case => {
      const query = `${path.includes("?") ? "&" : "?"}visibility=account`;
      return { ...rest, reach: "account", path: `${path}${query}` };
    });
  const inEnvelope = (path: string, httpMethod: string) => ({
    method: "resource/request",
    params: { path: `${path}?visibility=account`, httpMethod },
    body: { agentId: "poet" },
  });
  const post = (action: Action, path: string, body: object): Case => ({
    action,
    reach: "account",
    method: "POST",
    path: `${COPILOTKIT}${path}`,
    body,
  });
  const account = { reach: "account", body: { agentId: "poet" } } as const;
  const thread = `${COPILOTKIT}/threads/t`;
  return [
    ...named,
    post("run", "/agent/poet/run", props()),
    post("read", "/agent/poet/run", props({ command: { name: "poll" } })),
    post("stop", "/agent/poet/run", props({ command: { name: "stop" } })),
    post("answer", "/agent/poet/run", { ...ANSWER, ...props() }),
    post("read", "/agent/poet/connect", props()),
    { action: "run", reach: "account", method: "POST", path: CHAT, body: { id: "t", ...shared } },
    {
      action: "answer",
      reach: "account",
      method: "POST",
      path: CHAT,
      body: { id: "t", resume: ANSWER.resume, ...shared },
    },
    post("read", "/follow?follow=false", {
      subscriptions: [{ agentId: "poet", threadId: "t", view: "ag-ui", ...shared }],
    }),
    post("stop", "/agent/poet/stop/t", shared),
    post("run", "", { method: "agent/run", params, body: props() }),
    post("read", "", { method: "agent/connect", params, body: props() }),
    post("stop", "", { method: "agent/stop", params, body: shared }),
    post("edit", "", inEnvelope("/threads/t", "PATCH")),
    post("delete_thread", "", inEnvelope("/threads/t", "DELETE")),
    { action: "read", reach: "account", method: "GET", path: `${COPILOTKIT}/threads?visibility=all` },
    { action: "read", reach: "account", method: "GET", path: "/agents/poet/threads?visibility=account" },
    { action: "edit", method: "PATCH", path: `${thread}?visibility=account`, ...account },
    { action: "edit", method: "POST", path: `${thread}/archive?visibility=account`, ...account },
    { action: "delete_thread", method: "DELETE", path: `${thread}?visibility=account`, ...account },
    { action: "delete_data", reach: "everyone", method: "DELETE", path: "/account/data?subject=somebody" },
    ...["/usage", "/usage/statement", "/usage/unresolved", "/usage/unbilled"].map(
      (path): Case => ({
        action: "see_spend",
        reach: "everyone",
        method: "GET",
        path: `${path}?subject=somebody`,
      }),
    ),
  ];
}

async function ask(role: Role, { method, path, body }: Case): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: {
      "x-throughline-account": "acme",
      "x-throughline-subject": `a-${role}`,
      "x-throughline-role": role,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

async function isAsThePolicySays(role: Role, one: Case): Promise<string | undefined> {
  const { status, text } = await ask(role, one);
  const allowed = may({ role }, one.action, one.reach);
  const said = `${role} ${one.method} ${one.path} ${JSON.stringify(one.body ?? "")} (${one.action}): ${status} ${text.slice(0, 200)}`;
  if (allowed) return status === 403 || status >= 500 ? said : undefined;
  const isNamed =
    text.includes('"code":"forbidden"') && text.includes(`"role":"${role}","action":"${one.action}"`);
  return status === 403 && isNamed ? undefined : said;
}

describe.each(ROLES)("With the role %s", (role) => {
  it("P70, P71: every operation of the document is refused or not as the policy says", async () => {
    const cases = operations.filter(({ operation }) => operation.security?.length !== 0).flatMap(casesOf);
    expect(cases.length).toBeGreaterThan(45);
    const problems: (string | undefined)[] = [];
    for (const one of cases) problems.push(await isAsThePolicySays(role, one));
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });

  it("P70, P71: what the account shares, and what is other people's, is refused or not as the policy says", async () => {
    const problems: (string | undefined)[] = [];
    for (const one of fartherCases()) problems.push(await isAsThePolicySays(role, one));
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });
});

describe("The document", () => {
  it("names an action for every operation that needs sign-in", () => {
    for (const { path, operation } of operations) {
      const action = operation["x-throughline-action"];
      const isKnown = action === "by_request" || isAction(action ?? "");
      expect([path, isKnown]).toEqual([path, operation.security?.length !== 0]);
    }
  });
});
