import { randomUUID } from "node:crypto";
import { toWireError } from "@throughline/ai-core";
import {
  type AuditFacts,
  boundedAnswer,
  type NewAuditEntry,
  targetOf,
  withoutContent,
} from "../audit/audit-entry.js";
import { DELETIONS } from "../audit/audit-store.js";
import type { AuditLog } from "../audit/create-audit-log.js";
import { ACTIONS, type Action, type Reach } from "../policy/action.js";
import { may, requireMay } from "../policy/may.js";
import { actorOf } from "../tenancy/caller-resolver.js";
import type { Asking, SignedIn } from "./ingress.js";

export interface VisitOptions extends Pick<SignedIn, "caller" | "credentials" | "limits" | "readBody"> {
  readonly audit: Pick<AuditLog, "admit" | "record">;
  readonly origin: Pick<NewAuditEntry, "address" | "requestId" | "route">;
}

/** One request of a signed-in caller. */
export interface Visit {
  readonly asking: Asking;
  /** Records what was permitted or refused, and how it ended. Call it once, with what was thrown if anything was. */
  settle(error?: unknown): void;
}

/** The one place that asks the policy and fills the audit record. */
export function openVisit({ audit, origin, ...request }: VisitOptions): Visit {
  const { caller, credentials, limits, readBody } = request;
  const actor = actorOf(credentials);
  let asked: Action | undefined;
  let facts: AuditFacts = {};

  function requirePermission(action: Action, reach: Reach): void {
    // What can't be recorded does not happen: neither an act nor a refusal.
    if (ACTIONS[action].isAudited || !may(actor, action, reach)) audit.admit();
    asked = action;
    requireMay(actor, action, reach);
  }

  function entryOf(action: Action, error: unknown): NewAuditEntry {
    return {
      id: randomUUID(),
      account: facts.account ?? caller.billingAccountId,
      subject: caller.subject,
      role: actor.role,
      action,
      ...outcomeOf(error),
      ...origin,
      thread: facts.thread?.ref,
      person: facts.person,
      target: targetOf(facts),
      answer: facts.answer === undefined ? undefined : boundedAnswer(facts.answer),
      times: 1,
    };
  }

  return {
    asking: {
      limits,
      readBody,
      permit(action) {
        requirePermission(action, "own");
        return {
          ...request,
          action,
          requireReach: (reach) => requirePermission(action, reach),
          note(more) {
            facts = { ...facts, ...more, target: { ...facts.target, ...more.target } };
          },
        };
      },
    },
    settle(thrown) {
      if (asked === undefined) return;
      const entry = entryOf(asked, thrown ?? facts.error);
      if (!ACTIONS[asked].isAudited && entry.outcome !== "refused") return;
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
