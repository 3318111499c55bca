import { z } from "zod";
import type { ActionRoute } from "../http/route-table.js";
import { ACTIONS, isAction, REACHES } from "../policy/action.js";
import { reachOf } from "../policy/may.js";
import { roleSchema } from "../policy/role.js";
import { actorOf } from "../tenancy/caller-resolver.js";

const callerSchema = z.object({
  account: z.string(),
  subject: z.string().nullable().describe("null: no person, but the account itself."),
  role: roleSchema,
  actions: z
    .array(
      z.object({
        action: z.string(),
        does: z.string().describe("Completes “The role … may not …”."),
        reach: z
          .enum(REACHES)
          .nullable()
          .describe(
            "How far: what is the caller's alone, also what the account shares, also other people's. null: not at all.",
          ),
      }),
    )
    .describe("Every action there is."),
});

/** `GET /me`: who the caller is and what they may do, so that a client can say so before it is refused. */
export function callerRoute(): ActionRoute {
  return {
    method: "GET",
    path: "/me",
    action: "read",
    doc: {
      summary: "Read who the caller is and what they may do",
      tag: "account",
      answer: {
        status: 200,
        description: "The caller, as sign-in and policy see them",
        schema: callerSchema,
      },
      errors: [],
    },
    handle(c, { caller, credentials }) {
      const actor = actorOf(credentials);
      const answer: z.output<typeof callerSchema> = {
        account: caller.billingAccountId,
        subject: caller.subject ?? null,
        role: actor.role,
        actions: Object.keys(ACTIONS)
          .filter(isAction)
          .map((action) => ({ action, does: ACTIONS[action].does, reach: reachOf(actor, action) ?? null })),
      };
      return c.json(answer);
    },
  };
}
