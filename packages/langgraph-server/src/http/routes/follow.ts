import {
  envelopeSchema,
  httpStatusOf,
  ThroughlineError,
  threadNameSchema,
  toWireError,
  wireErrorSchema,
} from "@throughline/ai-core";
import { z } from "zod";
import type { Permit } from "../../accounts/limits.js";
import { encodeSseFrame } from "../../streams/frame-encoders.js";
import type { EncoderOptions, ThreadStreams } from "../../streams/stream-types.js";
import { type ThreadAddress, threadVisibilitySchema } from "../../threads/thread-address.js";
import {
  type App,
  type AuthorizedRequest,
  openStream,
  parseBody,
  publicUrlOf,
  type RouteContext,
  requireAgent,
} from "../request.js";
import { threadFor } from "../request-scope.js";
import type { ActionRoute } from "../route.js";
import { splitStream } from "../sse.js";
import type { SseStream } from "../sse-stream.js";
import { agUiEventSchema } from "../stream-schemas.js";
import { followOf, followQuerySchema, streamEndError, subscribeOnStream } from "../stream-thread.js";

/** Maximum subscriptions of a request, more than a browser's tabs show; each counts as a subscription of its account. */
const MAX_SUBSCRIPTIONS = 100;

const subscriptionSchema = z.strictObject({
  agentId: z.string().min(1).max(256),
  threadId: threadNameSchema,
  visibility: threadVisibilitySchema,
  cursor: z
    .string()
    .max(512)
    .optional()
    .describe("Where a returning client stands: the last id it got of this subscription."),
  view: z.enum(["ag-ui", "envelopes"]).describe("AG-UI 1.0 events as `connect` has them, or the log itself."),
});
type Subscription = z.output<typeof subscriptionSchema>;

const followSchema = z.strictObject({
  subscriptions: z.array(subscriptionSchema).min(1).max(MAX_SUBSCRIPTIONS),
  calls: z.boolean().optional().describe("As for `connect`."),
  interrupts: z
    .enum(["legacy", "standard", "both"])
    .optional()
    .describe("As for `connect`. Default: standard."),
  links: z.boolean().optional().describe("As for `connect`."),
});
type FollowRequest = z.output<typeof followSchema>;

const endSchema = wireErrorSchema.extend({
  subscription: z.number().int().describe("Its place in the request."),
  status: z.number().int().describe("As an answer of its own would have had it."),
});

/** A granted subscription of the request. */
interface Granted {
  /** The index in the request, which names the subscription on the stream. */
  readonly at: number;
  readonly asked: Subscription;
  readonly thread: ThreadAddress;
  readonly permit: Permit;
}

interface Refused {
  readonly at: number;
  readonly error: unknown;
}

/** Streams many threads on one connection: a browser has six connections to an origin, however many tabs it has. */
export function followRoute(parts: App<{ readonly hub: ThreadStreams }>, base: string): ActionRoute {
  return {
    method: "POST",
    path: `${base}/follow`,
    action: "read",
    isStream: true,
    doc: {
      summary: "Follow any number of threads on one stream",
      description:
        "Each event's `event` field is the place of its subscription in the list, from 0. One that is refused, or ends, is told by an event `end` that names it, and the others go on; where all are refused the first refusal is the answer. To change the list, ask again with the cursors at hand.",
      tag: "runs",
      query: followQuerySchema,
      body: followSchema,
      response: {
        status: 200,
        description: "Frames of all subscriptions, each in its own order",
        events: z.union([agUiEventSchema, envelopeSchema, endSchema]),
      },
      errors: ["not_found", "upstream_unavailable"],
    },
    async handle(c, who) {
      return followThreads(c, parts, who, await parseBody(who, followSchema));
    },
  };
}

async function followThreads(
  c: RouteContext,
  parts: App<{ readonly hub: ThreadStreams }>,
  who: AuthorizedRequest,
  request: FollowRequest,
): Promise<Response> {
  const results = await Promise.all(
    request.subscriptions.map((asked, at) => authorizeSubscription(parts, who, asked, at)),
  );
  const granted = results.filter((one) => "permit" in one);
  const refused = results.filter((one) => "error" in one);
  const forbidden = refused.find(({ error }) => isForbidden(error));
  const failed = refused.find(({ error }) => !(error instanceof ThroughlineError));
  const reason = failed ?? (granted.length === 0 ? (forbidden ?? refused[0]) : undefined);
  if (reason) {
    leaveAll(granted);
    throw reason.error;
  }
  // A refusal is recorded also where other subscriptions are granted.
  if (forbidden) who.audit({ error: forbidden.error });

  const permits = { leave: () => leaveAll(granted) };
  const { stream, response } = openStream(c, parts, permits, granted.length);
  for (const { at, error } of refused) stream.write([endFrame(at, error)]);
  const follow = followOf(c) ?? true;
  const lanes = splitStream(
    stream,
    granted.map(({ at }) => String(at)),
  );
  for (const [index, lane] of lanes.entries()) {
    const one = granted[index];
    if (!one) continue;
    const { cursor } = one.asked;
    subscribeOnStream({
      hub: parts.service.hub,
      clock: parts.clock,
      thread: one.thread,
      options: {
        face: faceOf(one.asked, request, publicUrlOf(c, parts)),
        from: cursor === undefined ? { kind: "nothing" } : { kind: "cursor", cursor },
        follow,
      },
      stream: endingWith(lane, one.permit),
      expiresAt: who.credentials.expiresAt,
      finalFrames({ reason }) {
        if (reason !== "done") stream.write([endFrame(one.at, streamEndError(reason))]);
        return [];
      },
    });
  }
  return response;
}

/** Authorizes and counts one subscription. */
async function authorizeSubscription(
  parts: App,
  who: AuthorizedRequest,
  asked: Subscription,
  at: number,
): Promise<Granted | Refused> {
  try {
    const { graphName } = await requireAgent(parts, asked.agentId);
    const named = { graphName, threadName: asked.threadId, visibility: asked.visibility };
    // Only a refusal is recorded, so granted threads are not part of the entry.
    const thread = threadFor({ ...who, audit() {} }, named);
    const permit = await parts.usage.watch(who.caller.billingAccountId, who.limits);
    return { at, asked, thread, permit };
  } catch (error) {
    return { at, error };
  }
}

function faceOf(
  { view }: Subscription,
  { calls = false, interrupts = "standard", links = !calls }: FollowRequest,
  address: string,
): EncoderOptions {
  if (view === "envelopes") return { kind: "envelopes", isUnnamed: true };
  return { kind: "ag-ui", line: "1.0", interrupts, calls, fileBaseUrl: links ? address : undefined };
}

/** Releases the permit with the subscription, which may end long before the stream. */
function endingWith(lane: SseStream, permit: Permit): SseStream {
  return {
    ...lane,
    end() {
      lane.end();
      permit.leave();
    },
  };
}

function leaveAll(granted: readonly Granted[]): void {
  for (const { permit } of granted) permit.leave();
}

function isForbidden(error: unknown): boolean {
  return error instanceof ThroughlineError && error.code === "forbidden";
}

function endFrame(subscription: number, error: unknown): Buffer {
  const wire = toWireError(error);
  const data = { subscription, status: httpStatusOf(wire.code), ...wire };
  return encodeSseFrame({ event: "end", data: JSON.stringify(data) });
}
