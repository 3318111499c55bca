import { ThroughlineError } from "@throughline/ai-core";
import type { RunBill } from "@throughline/billing";
import type { RunRecord } from "@throughline/thread-log";
import { z } from "zod";
import type { ServiceBilling } from "../../accounts/billing.js";
import { actorOf } from "../../accounts/callers.js";
import { reachOf } from "../../accounts/policy.js";
import type { ThreadService } from "../../runs/thread-service.js";
import { decodeRunSpec, payerOf } from "../../threads/run-spec.js";
import { callerIn, threadAddress, visibilityOf } from "../../threads/thread-address.js";
import { nextSchema } from "../paging.js";
import { type App, type AuthorizedRequest, parseBody, parseQuery, requireAgent } from "../request.js";
import { listScope, threadFor, threadOf } from "../request-scope.js";
import type { ActionRoute } from "../route.js";
import {
  editStateSchema,
  forkSchema,
  historyQuerySchema,
  moveSchema,
  runsQuerySchema,
  showCheckpoint,
  shownCheckpointSchema,
  shownRunSchema,
  shownStateSchema,
  shownThreadSchema,
  showRun,
  showState,
  showThread,
  stateQuerySchema,
  threadChangeSchema,
  threadQuerySchema,
} from "./thread-schemas.js";

const THREAD = "/agents/:agentId/threads/:threadName";
const ARCHIVED = { true: true, false: false, all: undefined } as const;

/** Routes for the caller's threads and those the account shares. */
export function threadRoutes(
  parts: App<{ readonly threads: ThreadService; readonly billing: ServiceBilling }>,
): ActionRoute[] {
  const { threads, billing } = parts.service;

  async function requireListed({ caller }: AuthorizedRequest, model: string): Promise<void> {
    const { models } = await billing.modelsOf(caller);
    if (models.some(({ id }) => id === model)) return;
    const known = models.map(({ id }) => id);
    throw new ThroughlineError(
      "model_not_allowed",
      `model: "${model}" is not allowed. Choose one of: ${known.join(", ")}.`,
      {
        details: { field: "model", known },
      },
    );
  }

  async function billsOf(runs: readonly RunRecord[]): Promise<ReadonlyMap<string, RunBill>> {
    if (!billing.isMetered || runs.length === 0) return new Map();
    return billing.ledger.billsOf(runs.map(({ runId }) => runId));
  }

  const list: ActionRoute = {
    method: "GET",
    path: "/agents/:agentId/threads",
    action: "read",
    doc: {
      summary: "List threads",
      tag: "threads",
      query: threadQuerySchema,
      response: {
        status: 200,
        description: "Newest activity first",
        schema: z.object({ threads: z.array(shownThreadSchema), next: nextSchema }),
      },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const { graphId } = await requireAgent(parts, c.req.param("agentId") ?? "");
      const { archived, visibility, ...query } = parseQuery(c, threadQuerySchema);
      const scope = listScope(who, visibility);
      const page = await threads.list(scope, { ...query, graphId, isArchived: ARCHIVED[archived] });
      return c.json({ threads: page.threads.map(showThread), next: page.next ?? null });
    },
  };
  const get: ActionRoute = {
    method: "GET",
    path: THREAD,
    action: "read",
    doc: {
      summary: "Read a thread's listing",
      tag: "threads",
      response: { status: 200, description: "The thread", schema: shownThreadSchema },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      return c.json(showThread(await threads.get(thread)));
    },
  };
  const change: ActionRoute = {
    method: "PATCH",
    path: THREAD,
    action: "edit",
    doc: {
      summary: "Rename a thread, archive it or take it back",
      tag: "threads",
      body: threadChangeSchema,
      response: { status: 200, description: "The thread as it is now", schema: shownThreadSchema },
      errors: ["invalid_input", "not_found", "too_large", "model_not_allowed", "models_unavailable"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const { title, archived, model } = await parseBody(who, threadChangeSchema);
      if (typeof model === "string") await requireListed(who, model);
      return c.json(showThread(await threads.change(thread, { title, isArchived: archived, model })));
    },
  };
  const state: ActionRoute = {
    method: "GET",
    path: `${THREAD}/state`,
    action: "read",
    doc: {
      summary: "Read a thread's state",
      description: "Values are those the graph's output schema names.",
      tag: "threads",
      query: stateQuerySchema,
      response: { status: 200, description: "The thread at a checkpoint", schema: shownStateSchema },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const { checkpointId } = parseQuery(c, stateQuerySchema);
      return c.json(showState(await threads.state(thread, checkpointId)));
    },
  };
  const editState: ActionRoute = {
    method: "PATCH",
    path: `${THREAD}/state`,
    action: "edit_state",
    doc: {
      summary: "Edit a thread's state",
      description:
        "For a thread that is idle or paused before a node; everyone who follows it sees the change, as a run of its own. What is to run next stays " +
        "to run: `ask-again` makes it go on. Refused as `busy` while a run is active, as `interrupt_pending` while a question is open. " +
        "Messages can't be edited here.",
      tag: "threads",
      body: editStateSchema,
      response: { status: 200, description: "The thread at its new checkpoint", schema: shownStateSchema },
      errors: [
        "invalid_input",
        "not_found",
        "busy",
        "interrupt_pending",
        "conflict",
        "rate_limited",
        "too_large",
        "upstream_unavailable",
      ],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const edit = await parseBody(who, editStateSchema);
      who.audit({ target: { channels: Object.keys(edit.values) } });
      return c.json(showState(await threads.editState(thread, { ...edit, person: who.caller.subject })));
    },
  };
  const history: ActionRoute = {
    method: "GET",
    path: `${THREAD}/history`,
    action: "read",
    doc: {
      summary: "List a thread's checkpoints",
      tag: "threads",
      query: historyQuerySchema,
      response: {
        status: 200,
        description: "Newest first",
        schema: z.object({ checkpoints: z.array(shownCheckpointSchema), next: nextSchema }),
      },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const { limit, before } = parseQuery(c, historyQuerySchema);
      const found = await threads.history(thread, { limit, ...(before !== undefined && { before }) });
      const next = found.length === limit ? (found.at(-1)?.checkpointId ?? null) : null;
      return c.json({ checkpoints: found.map(showCheckpoint), next });
    },
  };
  const runs: ActionRoute = {
    method: "GET",
    path: `${THREAD}/runs`,
    action: "read",
    doc: {
      summary: "List a thread's runs",
      tag: "threads",
      query: runsQuerySchema,
      response: {
        status: 200,
        description: "Newest first, with who started each",
        schema: z.object({ runs: z.array(shownRunSchema) }),
      },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const found = await threads.runs(thread, parseQuery(c, runsQuerySchema).limit);
      const bills = await billsOf(found.filter((run) => seesCost(who, run)));
      return c.json({ runs: found.map((run) => showRun(run, bills.get(run.runId))) });
    },
  };
  const fork: ActionRoute = {
    method: "POST",
    path: `${THREAD}/fork`,
    action: "edit",
    doc: {
      summary: "Begin a thread at a checkpoint of another",
      description:
        "The new thread holds what this one held at the checkpoint, files included, and nothing that came after. Graphs on a LangGraph server fork only where they were done.",
      tag: "threads",
      body: forkSchema,
      response: { status: 201, description: "The new thread", schema: shownThreadSchema },
      errors: ["invalid_input", "not_found", "conflict", "too_large", "upstream_unavailable"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const {
        threadName,
        checkpointId,
        visibility = visibilityOf(thread.ref),
      } = await parseBody(who, forkSchema);
      const { graphName } = await requireAgent(parts, thread.graphId);
      const to = threadFor(who, { graphName, threadName, visibility });
      const from = checkpointId ?? (await threads.state(thread)).checkpointId;
      return c.json(showThread(await threads.fork({ from: thread, checkpointId: from, to })), 201);
    },
  };
  const move: ActionRoute = {
    method: "PUT",
    path: `${THREAD}/visibility`,
    action: "share",
    doc: {
      summary: "Share a thread with the account, or make it private",
      description:
        "The thread moves as it stands: with its conversation, feedback on it, files and open questions, under the same name, and without its " +
        "log, its runs and the checkpoints of its past. A private thread is its person's to share; one of the account is an " +
        "admin's to make private, which takes it from everyone else. Refused as `busy` while a run is active.",
      tag: "threads",
      body: moveSchema,
      response: { status: 200, description: "The thread as it is now", schema: shownThreadSchema },
      errors: [
        "invalid_input",
        "not_found",
        "busy",
        "conflict",
        "rate_limited",
        "too_large",
        "upstream_unavailable",
      ],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const { visibility } = await parseBody(who, moveSchema);
      if (visibility === visibilityOf(thread.ref)) return c.json(showThread(await threads.get(thread)));
      const { graphName } = await requireAgent(parts, thread.graphId);
      const to = threadAddress(callerIn(who.caller, visibility), graphName, thread.threadName);
      const moved = await threads.move({ from: thread, to });
      // The audit entry names the thread by its new address.
      who.audit({ thread: to });
      return c.json(showThread(moved));
    },
  };
  return [list, get, change, state, editState, history, runs, fork, move];
}

/** The usage scope, as `GET /usage` decides it: everyone's if the caller may see it, else what was charged to the caller. */
function seesCost({ caller, credentials }: AuthorizedRequest, { request }: RunRecord): boolean {
  const reach = reachOf(actorOf(credentials), "see_spend");
  if (reach === undefined || reach === "everyone") return reach !== undefined;
  const row = decodeRunSpec(request);
  return caller.subject !== undefined && row.ok && payerOf(row.value).subject === caller.subject;
}
