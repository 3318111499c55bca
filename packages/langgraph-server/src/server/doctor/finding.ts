/** What one check found. */
export interface Finding {
  readonly status: "ok" | "warn" | "fail";
  readonly subject: string;
  /** A sentence or two. */
  readonly said: string;
  /** What to type, or to change. */
  readonly fix?: string;
}

export const ok = (subject: string, said: string): Finding => ({ status: "ok", subject, said });
export const warn = (subject: string, said: string, fix: string): Finding => ({
  status: "warn",
  subject,
  said,
  fix,
});
export const fail = (subject: string, said: string, fix: string): Finding => ({
  status: "fail",
  subject,
  said,
  fix,
});
