import { ThroughlineError } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import type { NewAuditEntry } from "../accounts/audit-entry.js";
import type { Credentials } from "../accounts/callers.js";
import { DEFAULT_LIMITS } from "../accounts/limits.js";
import { openVisit } from "./request.js";

function visit(credentials: Partial<Credentials> = {}, isFull = false) {
  const recorded: NewAuditEntry[] = [];
  const who = { billingAccountId: "acme", virtualKeyId: "key", subject: "ann", ...credentials };
  const { asking, settle } = openVisit({
    caller: { billingAccountId: "acme", virtualKeyId: "key", subject: "ann", traceId: "t" },
    credentials: who,
    limits: DEFAULT_LIMITS,
    origin: { address: "::1", requestId: "r", route: "POST /x" },
    readBody: async () => undefined,
    audit: {
      admit() {
        if (isFull) throw new ThroughlineError("store_unavailable", "full");
      },
      record: (entry) => void recorded.push(entry),
    },
  });
  return { asking, settle, recorded };
}

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof ThroughlineError ? error.code : "not ours";
  }
}

describe("A request of a signed-in caller", () => {
  it("has the default role where sign-in names none", () => {
    const { asking } = visit();
    expect(codeOf(() => asking.permit("run"))).toBeUndefined();
    expect(codeOf(() => asking.permit("read_audit"))).toBe("forbidden");
  });

  it("P75: does nothing that would be recorded, and refuses nothing, while the record is full", () => {
    const { asking, settle, recorded } = visit({}, true);
    expect(codeOf(() => asking.permit("stop"))).toBe("store_unavailable");
    expect(codeOf(() => asking.permit("read_audit"))).toBe("store_unavailable");
    settle(new ThroughlineError("store_unavailable", "full"));
    expect(recorded).toEqual([]);
    expect(codeOf(() => visit({}, true).asking.permit("read"))).toBeUndefined();
  });

  it("is recorded in the account it was for", () => {
    const { asking, settle, recorded } = visit({ isTrustedService: true });
    asking.permit("delete_data").note({ account: "other" });
    settle();
    expect(recorded).toMatchObject([{ account: "other", action: "delete_data", outcome: "done" }]);
  });

  it("leaves no entry where something was merely read, or nothing was asked for yet", () => {
    const { asking, settle, recorded } = visit();
    settle(new ThroughlineError("invalid_input", "body"));
    asking.permit("read");
    settle();
    expect(recorded).toEqual([]);
  });
});
