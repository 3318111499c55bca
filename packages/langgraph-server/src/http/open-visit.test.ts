import { ThroughlineError } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import type { NewAuditEntry } from "../accounts/audit-entry.js";
import type { Credentials } from "../accounts/callers.js";
import { DEFAULT_LIMITS } from "../accounts/limits.js";
import { trackRequest } from "./request.js";

function visit(credentials: Partial<Credentials> = {}, isFull = false) {
  const recorded: NewAuditEntry[] = [];
  const who = { billingAccountId: "acme", virtualKeyId: "key", subject: "ann", ...credentials };
  const { authenticated, complete } = trackRequest({
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
  return { authenticated, complete, recorded };
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
    const { authenticated } = visit();
    expect(codeOf(() => authenticated.authorize("run"))).toBeUndefined();
    expect(codeOf(() => authenticated.authorize("read_audit"))).toBe("forbidden");
  });

  it("P75: does nothing that would be recorded, and refuses nothing, while the record is full", () => {
    const { authenticated, complete, recorded } = visit({}, true);
    expect(codeOf(() => authenticated.authorize("stop"))).toBe("store_unavailable");
    expect(codeOf(() => authenticated.authorize("read_audit"))).toBe("store_unavailable");
    complete(new ThroughlineError("store_unavailable", "full"));
    expect(recorded).toEqual([]);
    expect(codeOf(() => visit({}, true).authenticated.authorize("read"))).toBeUndefined();
  });

  it("is recorded in the account it was for", () => {
    const { authenticated, complete, recorded } = visit({ isTrustedService: true });
    authenticated.authorize("delete_data").audit({ account: "other" });
    complete();
    expect(recorded).toMatchObject([{ account: "other", action: "delete_data", outcome: "done" }]);
  });

  it("leaves no entry where something was merely read, or nothing was asked for yet", () => {
    const { authenticated, complete, recorded } = visit();
    complete(new ThroughlineError("invalid_input", "body"));
    authenticated.authorize("read");
    complete();
    expect(recorded).toEqual([]);
  });
});
