import { StoreOutage, ThroughlineError } from "@throughline/ai-core";
import { scrubText } from "../operations/scrub-text.js";

/** What `pg` says when it has waited long enough. */
const TIMEOUT = /^(timeout expired|Query read timeout|Connection terminated due to connection timeout)$/;
const WRONG_LOGIN = new Set(["28P01", "28000"]);
const NO_DATABASE = "3D000";

/** Why a PostgreSQL can't be used, for its operator. */
export function connectionProblem(error: unknown, deadlineMs?: number): string {
  const message = error instanceof Error ? error.message : String(error);
  if (TIMEOUT.test(message))
    return `PostgreSQL does not answer${deadlineMs === undefined ? "" : ` within ${deadlineMs / 1_000} s`}.`;
  // An error of several addresses has no message of its own.
  const reason = scrubText(message) || codeOf(error) || "no reason given";
  return `PostgreSQL does not let us in: ${reason.replace(/\.$/, "")}.`;
}

export function connectionAdvice(error: unknown): string {
  const code = codeOf(error);
  if (WRONG_LOGIN.has(code)) return "Correct user and password in LANGGRAPH_DATABASE_URL.";
  if (code === NO_DATABASE)
    return "Create it: createdb NAME, with the name that LANGGRAPH_DATABASE_URL ends in.";
  return 'Check LANGGRAPH_DATABASE_URL, and that the server runs and can be reached from here: pg_isready -d "$LANGGRAPH_DATABASE_URL"';
}

/** While it runs, a service waits for a database that is away. At its start a wrong address is likelier, and is named. */
export function startFailure(error: unknown): unknown {
  const isOutage = error instanceof StoreOutage;
  const cause = isOutage ? error.cause : error;
  const code = codeOf(cause);
  if (!isOutage && !WRONG_LOGIN.has(code) && code !== NO_DATABASE) return error;
  return new ThroughlineError("store_unavailable", `${connectionProblem(cause)} ${connectionAdvice(cause)}`, {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
