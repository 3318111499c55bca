import { z } from "zod";

/** The roles of people in their account. A closed list: a role that is not here is refused at sign-in. */
export const ROLES = ["viewer", "operator", "approver", "admin"] as const;
export type Role = (typeof ROLES)[number];

export const roleSchema = z.enum(ROLES);

/** The role of a caller whose credentials name none. */
export const DEFAULT_ROLE: Role = "operator";

/**
 * How far an action reaches inside the account, each level including the ones before it. `own`: what is the caller's alone; for a
 * caller without a subject that is what the account shares. `account`: what the account shares. `everyone`: what belongs
 * to other people of the account, through routes for the whole account only.
 */
export const REACHES = ["own", "account", "everyone"] as const;
export type Reach = (typeof REACHES)[number];

interface ActionRule {
  /** Completes "The role viewer may not …". */
  readonly does: string;
  /** Every request for it is in the account's audit record, not only refused ones. */
  readonly isAudited: boolean;
  /** The reach of each role; `undefined` where the action is denied. */
  readonly reach: Readonly<Record<Role, Reach | undefined>>;
}

function roles(
  viewer: Reach | undefined,
  operator: Reach | undefined,
  approver: Reach | undefined,
  admin: Reach | undefined,
): ActionRule["reach"] {
  return { viewer, operator, approver, admin };
}

const never = undefined;

/**
 * The policy: every action there is and who may do it. No row lets a role read, run or change another person's private
 * threads: `everyone` is for actions on the account as a whole.
 */
export const ACTIONS = {
  read: {
    does: "read agents, threads, files and crons",
    isAudited: false,
    reach: roles("account", "account", "account", "account"),
  },
  run: {
    does: "start runs",
    isAudited: false,
    reach: roles(never, "account", never, "account"),
  },
  edit: {
    does: "rename, archive and fork threads",
    isAudited: false,
    reach: roles(never, "account", never, "account"),
  },
  edit_state: {
    does: "edit the state of threads",
    isAudited: true,
    reach: roles(never, "account", never, "account"),
  },
  share: {
    does: "share threads with the account or make them private",
    isAudited: true,
    reach: roles(never, "own", never, "account"),
  },
  stop: {
    does: "stop runs",
    isAudited: true,
    reach: roles(never, "account", "account", "account"),
  },
  answer: {
    does: "answer questions and approve",
    isAudited: true,
    reach: roles(never, "account", "account", "account"),
  },
  give_feedback: {
    does: "give feedback on answers",
    isAudited: true,
    reach: roles(never, "account", "account", "account"),
  },
  read_feedback: {
    does: "list feedback",
    isAudited: false,
    reach: roles(never, "own", "own", "everyone"),
  },
  upload: {
    does: "upload files",
    isAudited: false,
    reach: roles(never, "account", never, "account"),
  },
  schedule: {
    does: "create, change and delete crons",
    isAudited: true,
    reach: roles(never, "own", never, "own"),
  },
  delete_thread: {
    does: "delete threads",
    isAudited: true,
    reach: roles(never, "own", never, "account"),
  },
  delete_data: {
    does: "delete a person's or the account's data",
    isAudited: true,
    reach: roles(never, "own", never, "everyone"),
  },
  read_store: {
    does: "read what graphs remember",
    isAudited: false,
    reach: roles("own", "own", "own", "own"),
  },
  write_store: {
    does: "delete what graphs remember",
    isAudited: false,
    reach: roles(never, "own", never, "own"),
  },
  see_spend: {
    does: "see what runs cost",
    isAudited: false,
    reach: roles(never, "own", never, "everyone"),
  },
  set_budgets: {
    does: "set budgets",
    isAudited: true,
    reach: roles(never, never, never, "everyone"),
  },
  read_audit: {
    does: "read the audit record",
    isAudited: false,
    reach: roles(never, never, never, "everyone"),
  },
  export: {
    does: "export a person's or the account's data",
    isAudited: true,
    reach: roles(never, "own", never, "everyone"),
  },
} as const satisfies Readonly<Record<string, ActionRule>>;

export type Action = keyof typeof ACTIONS;

export function isAction(name: string): name is Action {
  return Object.hasOwn(ACTIONS, name);
}

/** Actions that a trusted service may perform for any account it names, regardless of its role. */
export const TRUSTED_SERVICE_ACTIONS: ReadonlySet<Action> = new Set(["run", "delete_data"]);
