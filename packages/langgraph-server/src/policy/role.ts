import { z } from "zod";

/** What a person is inside their account. A closed list: a role that is not here is refused at sign-in. */
export const ROLES = ["viewer", "operator", "approver", "admin"] as const;
export type Role = (typeof ROLES)[number];

export const roleSchema = z.enum(ROLES);

/** Of a caller whose credentials name none. */
export const DEFAULT_ROLE: Role = "operator";
