import { describe, expect, it } from "vitest";
import { ACTIONS, type Action, isAction, REACHES, ROLES } from "./actions.js";
import { may, requireAllowed } from "./policy.js";

const actions = Object.keys(ACTIONS).filter(isAction);

describe("The policy", () => {
  it("lets an admin do all that any other role may", () => {
    for (const action of actions) {
      for (const reach of REACHES) {
        const others = ROLES.filter((role) => may({ role }, action, reach));
        if (others.length > 0) expect(others, `${action} ${reach}`).toContain("admin");
      }
    }
  });

  it("lets a viewer read and nothing else", () => {
    const allowed = actions.filter((action) => may({ role: "viewer" }, action, "own"));
    expect(allowed).toEqual(["read", "read_store"]);
  });

  it("lets an approver answer, stop and give feedback beyond what a viewer may", () => {
    const allowed = actions.filter((action) => may({ role: "approver" }, action, "own"));
    expect(allowed).toEqual(["read", "stop", "answer", "give_feedback", "read_feedback", "read_store"]);
  });

  it("lets no role touch another person's threads, except by deleting or exporting data of the account", () => {
    const everywhere = actions.filter((action) => ROLES.some((role) => may({ role }, action, "everyone")));
    expect(everywhere).toEqual([
      "read_feedback",
      "delete_data",
      "see_spend",
      "set_budgets",
      "read_audit",
      "export",
    ]);
  });

  it("includes in every permission what reaches less far", () => {
    for (const role of ROLES) {
      for (const action of actions) {
        const granted = REACHES.map((reach) => may({ role }, action, reach));
        expect(granted, `${role} ${action}`).toEqual([...granted].sort((a, b) => Number(b) - Number(a)));
      }
    }
  });

  it("lets a trusted service start runs and delete data, whatever its role, and nothing more for being one", () => {
    const more = (action: Action) =>
      may({ role: "viewer", isTrustedService: true }, action, "everyone") &&
      !may({ role: "viewer" }, action, "everyone");
    expect(actions.filter(more)).toEqual(["run", "delete_data"]);
  });

  it("names the role and the action in a refusal", () => {
    expect(() => requireAllowed({ role: "viewer" }, "stop", "own")).toThrow(
      "The role viewer may not stop runs (action stop).",
    );
    expect(() => requireAllowed({ role: "operator" }, "delete_thread", "account")).toThrow(
      "The role operator may not delete threads that the account shares (action delete_thread).",
    );
  });
});
