import { AUDIT_KEEPS } from "../audit/audit-store.js";
import { DEFAULT_AUDIT_AGE_MS, DEFAULT_AUDIT_KEEP } from "../audit/create-audit-log.js";
import { setting } from "./setting.js";
import { oneOf, wholeNumber } from "./value-schemas.js";

const DAY_MS = 86_400_000;

/** How long the audit record is kept. */
export const AUDIT_SETTINGS = {
  auditMaxAgeDays: setting({
    env: "THROUGHLINE_AUDIT_MAX_AGE_DAYS",
    flag: "audit-max-age-days",
    group: "storage",
    placeholder: "DAYS",
    doc: "How old entries of the audit record may become; 0 keeps all.",
    schema: wholeNumber.refine((days) => days <= 36_500, "takes at most 36500 days"),
    fallback: DEFAULT_AUDIT_AGE_MS / DAY_MS,
  }),
  auditKeepAfterDeletion: setting({
    env: "THROUGHLINE_AUDIT_KEEP_AFTER_DELETION",
    flag: "audit-keep-after-deletion",
    group: "storage",
    placeholder: AUDIT_KEEPS.join("|"),
    doc: "What the audit record keeps of what was deleted: `receipts` keeps who deleted an account, and of a deleted person or thread who did what and when.",
    schema: oneOf(...AUDIT_KEEPS),
    fallback: DEFAULT_AUDIT_KEEP,
  }),
} as const;
