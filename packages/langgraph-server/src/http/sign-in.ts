import { randomUUID } from "node:crypto";
import { ThroughlineError, toWireError } from "@throughline/ai-core";
import {
  type AuditFacts,
  boundedAnswer,
  type NewAuditEntry,
  targetOf,
  withoutContent,
} from "../audit/audit-entry.js";
import { DELETIONS } from "../audit/audit-store.js";
import { ACTIONS, type Action, type Reach } from "../policy/action.js";
import { may, requireMay } from "../policy/may.js";
import { DEFAULT_ROLE } from "../policy/role.js";
import { toCaller } from "../tenancy/caller-resolver.js";
import type { Asking, RouteContext, RouteParts } from "./ingress.js";
import { readJsonBody } from "./read-json-body.js";

export interface Visit {
  readonly asking: Asking;
  /** Records what the request was permitted or refused, and how it ended. Call it once, with what was thrown if anything was. */
  settle(error?: unknown): void;
}

/** Who asks. Every route but the open ones begins here, so that none can be reached without. */
export async function signIn(c: RouteContext, parts: RouteParts): Promise<Visit> {
  const remoteAddress = c.env?.incoming?.socket.remoteAddress;
  const credentials = await parts.resolver.resolve({
    headers: c.req.raw.headers,
    url: new URL(c.req.url),
    remoteAddress,
  });
  if (credentials.expiresAt !== undefined && credentials.expiresAt <= parts.clock.now()) {
    throw new ThroughlineError("unauthorized", "The token has expired.");
  }
  const { requestId, traceId } = c.get("trace");
  const caller = toCaller(credentials, traceId);
  const account = caller.billingAccountId;
  const limits = parts.limitsOf(account);
  const declared = declaredLength(c.req.raw);
  if (declared !== 0) parts.usage.body(account, limits, declared);
  const readBody = () =>
    readJsonBody(c.req.raw, {
      incoming: c.env?.incoming,
      maxBytes: limits.maxBodyBytes,
      onRead(bytes) {
        if (declared === undefined) parts.usage.bodyRead(account, limits, bytes);
      },
    });

  const { audit } = parts.service;
  const actor = { role: credentials.role ?? DEFAULT_ROLE, isTrustedService: credentials.isTrustedService };
  let asked: Action | undefined;
  let facts: AuditFacts = {};

  function require(action: Action, reach: Reach): void {
    // What can't be recorded does not happen: neither an act nor a refusal.
    if (ACTIONS[action].isAudited || !may(actor, action, reach)) audit.admit();
    requireMay(actor, action, reach);
  }

  const asking: Asking = {
    limits,
    readBody,
    permit(action) {
      asked = action;
      require(action, "own");
      return {
        caller,
        credentials,
        limits,
        readBody,
        action,
        requireReach: (reach) => require(action, reach),
        note(more) {
          facts = { ...facts, ...more, target: { ...facts.target, ...more.target } };
        },
      };
    },
  };
  return {
    asking,
    settle(thrown) {
      if (asked === undefined) return;
      const outcome = outcomeOf(thrown ?? facts.error);
      if (!ACTIONS[asked].isAudited && outcome.outcome !== "refused") return;
      const entry: NewAuditEntry = {
        id: randomUUID(),
        account,
        subject: caller.subject,
        role: actor.role,
        action: asked,
        ...outcome,
        address: remoteAddress,
        requestId,
        route: c.get("route"),
        thread: facts.thread?.ref,
        target: targetOf(facts),
        answer: facts.answer === undefined ? undefined : boundedAnswer(facts.answer),
        times: 1,
      };
      // What says that a thread is gone must not go on telling its name.
      audit.record(DELETIONS.has(asked) ? withoutContent(entry) : entry);
    },
  };
}

function outcomeOf(error: unknown): Pick<NewAuditEntry, "outcome" | "code"> {
  if (error === undefined) return { outcome: "done" };
  const { code } = toWireError(error);
  return { outcome: code === "forbidden" ? "refused" : "failed", code };
}

/** 0 where there is no body, `undefined` where its length is not told. */
function declaredLength({ method, headers }: Request): number | undefined {
  const declared = headers.get("content-length");
  if (declared !== null) return Number(declared);
  return method === "GET" || method === "HEAD" ? 0 : undefined;
}
