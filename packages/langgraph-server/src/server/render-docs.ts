import { graphRegistry } from "@throughline/graph-executor";
import {
  ACTIONS,
  type Action,
  DEFAULT_ROLE,
  isAction,
  type Reach,
  ROLES,
  type Role,
  TRUSTED_SERVICE_ACTIONS,
} from "../accounts/actions.js";
import { devCaller } from "../accounts/callers.js";
import { createHandler, type Handler } from "./create-handler.js";
import { createService } from "./create-service.js";

/** Renders the response of `GET /openapi.json` for `docs/`, for readers without a server. */
export async function renderOpenApi(): Promise<string> {
  const service = await createService({ store: { kind: "memory" }, graphs: graphRegistry([]) });
  const handler = createHandler({ service, caller: devCaller() });
  try {
    const answer = await handler.fetch(new Request("http://localhost/openapi.json"));
    return `${JSON.stringify(await answer.json(), null, 2)}\n`;
  } finally {
    handler.close();
    await service.close({ drainMs: 0 });
  }
}

const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: "reads",
  operator: "works: runs, stops, answers, uploads, schedules, and deletes what is their own",
  approver: "reads, answers what runs ask, and stops runs",
  admin: "does everything of the account, other people's private threads excepted",
};

const REACH_WORDS: Readonly<Record<Reach, string>> = {
  own: "own",
  account: "own and shared",
  everyone: "whole account",
};

/** Renders `docs/roles.md` from the policy table and the routes. */
export async function renderRoles(): Promise<string> {
  const service = await createService({ store: { kind: "memory" }, graphs: graphRegistry([]) });
  const handler = createHandler({ service, caller: devCaller() });
  handler.close();
  await service.close({ drainMs: 0 });
  const actions = Object.keys(ACTIONS).filter(isAction);
  return `${[
    "<!-- Written by `npm run generate` from packages/langgraph-server/src/policy and the routes. -->",
    "# Roles",
    [
      "Sign-in says who a caller is: an account, a person in it (the subject) and that person's role. The role is the token's claim",
      "`throughline_role` (`THROUGHLINE_JWT_ROLE_CLAIM` names another), a custom caller's `role`, or with dev sign-in the header",
      `\`x-throughline-role\`. Without one it is \`${DEFAULT_ROLE}\`; dev sign-in without a subject is \`admin\`. A role that is not in this list is refused`,
      "as `unauthorized`.",
    ].join("\n"),
    table(
      ["role", "in a word"],
      ROLES.map((role) => [`\`${role}\``, ROLE_WORDS[role]]),
    ),
    "## What each may do",
    [
      "**own**: what is the caller's alone; for a caller without a subject that is what the account shares. **own and shared**: also what",
      "the account shares (`visibility=account`). **whole account**: also other people's, by routes for the account as a whole. No role reaches",
      "another person's private threads. A refusal is 403 `forbidden` and names the role and the action.",
    ].join("\n"),
    table(
      ["action", ...ROLES.map((role) => `\`${role}\``), "what", "recorded"],
      actions.map((action) => [
        `\`${action}\``,
        ...ROLES.map((role) => reachOf(action, role)),
        ACTIONS[action].does,
        ACTIONS[action].isAudited ? "always" : "when refused",
      ]),
    ),
    [
      `A trusted service may ${[...TRUSTED_SERVICE_ACTIONS].map((action) => `\`${action}\``).join(" and ")} for whichever account it names, whatever`,
      "its role, and nothing more for being one.",
    ].join("\n"),
    "## Which route asks for what",
    [
      "Of a run's request the body decides: `answer` where it answers a question, `read` for the command `poll`, `stop` for `stop`, else",
      "`run`. The envelope asks for what the operation within asks for. **recorded** is in the account's audit record, see",
      "[operations.md](operations.md#the-audit-record).",
    ].join("\n"),
    table(["route", "action"], handler.routes.map(rowOf)),
  ].join("\n\n")}\n`;
}

function reachOf(action: Action, role: Role): string {
  const reach: Reach | undefined = ACTIONS[action].reach[role];
  return reach === undefined ? "–" : REACH_WORDS[reach];
}

function rowOf({ method, path, action }: Handler["routes"][number]): string[] {
  const asks =
    action === undefined ? "none: open to all" : action === "by_request" ? "by the body" : `\`${action}\``;
  return [`\`${method} ${path}\``, asks];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
