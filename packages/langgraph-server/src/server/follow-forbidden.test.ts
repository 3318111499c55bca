import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { readEvents } from "../testing/sse-events.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";

// No role is kept from what its account shares today: the policy here keeps viewers from it.
vi.mock(import("../accounts/actions.js"), async (original) => {
  const policy = await original();
  const { read } = policy.ACTIONS;
  const stricter = { ...read, reach: { ...read.reach, viewer: "own" as const } };
  return { ...policy, ACTIONS: { ...policy.ACTIONS, read: stricter } };
});

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

it("P90: a subscription that the caller's role may not have is refused by name, recorded, and the others go on", async () => {
  const as = (role: string) => ({
    "x-throughline-account": "acme",
    "x-throughline-subject": "ann",
    "x-throughline-role": role,
    "x-request-id": "ann-follows",
  });
  const asked = [{ visibility: "account" }, {}, { view: "envelopes", visibility: "account" }].map((one) => ({
    agentId: "chat",
    threadId: "a",
    view: "ag-ui",
    ...one,
  }));
  const response = await server.post(
    "/api/copilotkit/follow?follow=false",
    { subscriptions: asked },
    as("viewer"),
  );
  expect(response.status).toBe(200);
  const events = await readEvents(response);
  const told = (name: string) => events.filter(({ event }) => event === name);
  expect(told("end").map(({ data }) => [data.subscription, data.code, data.status])).toEqual([
    [0, "forbidden", 403],
    [2, "forbidden", 403],
  ]);
  expect(told("1").at(-1)?.data).toMatchObject({ type: "RUN_FINISHED", threadId: "a" });
  expect([...told("0"), ...told("2")]).toEqual([]);

  await server.service.audit.flush();
  const record = await fetch(`${server.url}/audit`, { headers: as("admin") });
  const { entries }: { entries: { action: string }[] } = JSON.parse(await record.text());
  expect(entries.filter(({ action }) => action === "read")).toMatchObject([
    {
      action: "read",
      outcome: "refused",
      code: "forbidden",
      role: "viewer",
      subject: "ann",
      requestId: "ann-follows",
      route: "POST /api/copilotkit/follow",
    },
  ]);
});
