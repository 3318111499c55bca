/** The result of one check. */
export interface Finding {
  readonly status: "ok" | "warn" | "fail";
  readonly subject: string;
  /** The finding in a sentence or two. */
  readonly said: string;
  /** The remedy: what to type, or to change. */
  readonly fix?: string;
}

export const ok = (subject: string, message: string): Finding => ({ status: "ok", subject, said: message });
export const warn = (subject: string, message: string, fix: string): Finding => ({
  status: "warn",
  subject,
  said: message,
  fix,
});
export const fail = (subject: string, message: string, fix: string): Finding => ({
  status: "fail",
  subject,
  said: message,
  fix,
});
