import {
  interruptSchema,
  jsonObjectSchema,
  messageSchema,
  runOriginSchema,
  threadNameSchema,
} from "@throughline/ai-core";
import type { RunBill } from "@throughline/billing";
import {
  FINAL_STATUSES,
  type ForkOrigin,
  type RunRecord,
  THREAD_STATUSES,
  type ThreadListing,
} from "@throughline/thread-log";
import { z } from "zod";
import type { VisibleCheckpoint } from "../../runs/thread-service.js";
import { clientRunIdOf, type DecodedRunSpec, decodeRunSpec, personOf } from "../../threads/run-spec.js";
import { visibilityOf, visibilitySchema } from "../../threads/thread-address.js";
import { pageSchema, wholeNumber } from "../paging.js";
import { listVisibilitySchema } from "../request-scope.js";
import { billSchema, showBill } from "./usage-schemas.js";

export const titleSchema = z
  .string()
  .trim()
  .min(1, "must not be empty; null gives the derived title back")
  .max(200)
  .refine((title) => !/\p{Cc}/u.test(title), "must not hold control characters");

export const threadChangeSchema = z
  .strictObject({
    title: titleSchema.nullable().optional().describe("null gives the derived title back."),
    archived: z.boolean().optional(),
    model: z
      .string()
      .min(1)
      .max(128)
      .nullable()
      .optional()
      .describe("Of `GET /models`: what runs use that name none. null: the service's default."),
  })
  .refine(
    (change) => Object.values(change).some((value) => value !== undefined),
    "name what to change: title, archived or model",
  )
  .meta({ minProperties: 1 });

export const forkSchema = z.strictObject({
  threadName: threadNameSchema.describe("What the new thread is called."),
  checkpointId: z.string().min(1).max(256).optional().describe("The newest when absent."),
  visibility: visibilitySchema.optional().describe("Of the new thread. As this one's when absent."),
});

export const moveSchema = z.strictObject({
  visibility: visibilitySchema.describe("Of the thread from now on."),
});

export const threadQuerySchema = z.object({
  status: z.enum(THREAD_STATUSES).optional(),
  archived: z.enum(["true", "false", "all"]).default("false"),
  search: z.string().min(1).max(256).optional().describe("Part of a title or a name, in whatever case."),
  visibility: listVisibilitySchema,
  ...pageSchema.shape,
});

export const stateQuerySchema = z.object({
  checkpointId: z.string().min(1).max(256).optional().describe("The newest when absent."),
});

export const editStateSchema = z.strictObject({
  values: jsonObjectSchema
    .refine((values) => Object.keys(values).length > 0, "name what to change")
    .meta({ minProperties: 1 })
    .describe("Channels by name. Each is set to its value, past its reducer; the others stay as they are."),
  checkpointId: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("The checkpoint that the edit was made at. Refused as `conflict` where it is not the newest."),
  asNode: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe(
      "The node that the edit counts as, which decides what runs next. The last one that ran when absent.",
    ),
});

export const historyQuerySchema = z.object({
  limit: wholeNumber(1, 100).default(20),
  before: z.string().min(1).max(256).optional().describe("`next` of the page before: a checkpoint's id."),
});

export const runsQuerySchema = z.object({
  limit: wholeNumber(1, 200).default(50),
});

const time = z.iso.datetime();

export const shownThreadSchema = z.object({
  threadName: z.string(),
  agentId: z.string(),
  visibility: visibilitySchema,
  title: z.string().nullable(),
  titledByPerson: z.boolean(),
  archived: z.boolean(),
  forkedFrom: z
    .object({
      threadName: z.string(),
      visibility: visibilitySchema,
      checkpointId: z.string(),
      messageId: z.string().nullable().describe("The last message that both threads have."),
    })
    .nullable()
    .describe("Where it began, if it is a fork."),
  model: z.string().nullable().describe("What its runs use that name none; null: the service's default."),
  status: z.enum(THREAD_STATUSES),
  lastRunId: z.string(),
  createdAt: time,
  lastActivityAt: time,
});

export function showThread(listing: ThreadListing): z.output<typeof shownThreadSchema> {
  return {
    threadName: listing.threadName,
    agentId: listing.graphId,
    visibility: visibilityOf(listing.thread),
    title: listing.title ?? null,
    titledByPerson: listing.isTitledByPerson,
    archived: listing.isArchived,
    forkedFrom: listing.forkedFrom ? showOrigin(listing.forkedFrom) : null,
    model: listing.model ?? null,
    status: listing.status,
    lastRunId: listing.lastRunId,
    createdAt: iso(listing.createdAt),
    lastActivityAt: iso(listing.lastActivityAt),
  };
}

function showOrigin({ threadName, subject, checkpointId, messageId }: ForkOrigin) {
  return { threadName, visibility: visibilityOf({ subject }), checkpointId, messageId: messageId ?? null };
}

const checkpointFields = {
  checkpointId: z.string(),
  parentCheckpointId: z.string().nullable(),
  createdAt: z.string().nullable(),
  source: z.string().nullable(),
  step: z.number().nullable(),
  runId: z.string().nullable(),
  values: jsonObjectSchema,
  next: z.array(z.string()),
  interrupts: z.array(interruptSchema),
};
/** A history without the messages: with them, each page would hold the conversation as often as it has checkpoints. */
export const shownCheckpointSchema = z.object({ ...checkpointFields, messageIds: z.array(z.string()) });
export const shownStateSchema = z.object({ ...checkpointFields, messages: z.array(messageSchema) });

function showFields(checkpoint: VisibleCheckpoint) {
  return {
    checkpointId: checkpoint.checkpointId,
    parentCheckpointId: checkpoint.parentCheckpointId ?? null,
    createdAt: checkpoint.createdAt ?? null,
    source: checkpoint.source ?? null,
    step: checkpoint.step ?? null,
    runId: checkpoint.runId ?? null,
    values: checkpoint.values,
    next: [...checkpoint.next],
    interrupts: [...checkpoint.interrupts],
  };
}

export function showCheckpoint(checkpoint: VisibleCheckpoint): z.output<typeof shownCheckpointSchema> {
  return { ...showFields(checkpoint), messageIds: (checkpoint.messages ?? []).map(({ id }) => id) };
}

export function showState(checkpoint: VisibleCheckpoint): z.output<typeof shownStateSchema> {
  return { ...showFields(checkpoint), messages: [...(checkpoint.messages ?? [])] };
}

export const shownRunSchema = z.object({
  runId: z.string(),
  clientRunId: z.string().nullable(),
  status: z.enum(["queued", "running", ...FINAL_STATUSES]),
  startedBy: runOriginSchema.extend({
    command: z.string().optional().describe("The command that the run is of."),
    person: z.string().optional().describe("Who asked, where that was a person."),
  }),
  /** `foreign` was started by another client; `reconcile` recorded the contents of a checkpoint and ran no graph. */
  work: z.enum(["graph", "foreign", "reconcile"]),
  model: z.string().nullable().describe("null: the graph's own."),
  cost: billSchema
    .nullable()
    .describe("null: nothing was metered, or the caller may not see what the run cost."),
  attempt: z.number().int().describe("Recoveries so far, for whatever reason."),
  crashes: z.number().int().describe("Recoveries after a crash: past a limit of these the run is lost."),
  createdAt: time,
  endedAt: time.nullable(),
});

/** A run whose row can't be read. */
const UNREADABLE = { work: "graph", model: "unknown" } as const;

export function showRun(run: RunRecord, bill: RunBill | undefined): z.output<typeof shownRunSchema> {
  const request = decodeRunSpec(run.request);
  const { work, model } = request.ok ? request.value : UNREADABLE;
  return {
    runId: run.runId,
    clientRunId: work === "graph" && run.alias !== undefined ? clientRunIdOf(run.alias) : null,
    status: run.status,
    startedBy: { ...run.origin, ...askerOf(request) },
    work,
    model: model ?? null,
    cost: bill ? showBill(bill) : null,
    attempt: run.attempt,
    crashes: run.crashes,
    createdAt: iso(run.createdAt),
    endedAt: run.endedAt === undefined ? null : iso(run.endedAt),
  };
}

/** A run that this service started. */
function askerOf(request: DecodedRunSpec): { readonly command?: string; readonly person?: string } {
  if (!request.ok) return {};
  const { command } = request.value;
  const person = personOf(request.value);
  return { ...(command && { command: command.name }), ...(person !== undefined && { person }) };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
