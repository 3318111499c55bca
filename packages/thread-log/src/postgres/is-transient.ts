import pg from "pg";

/** Connection, rollback, resources, locks, operator, system: may succeed on a later try, all others never will. */
const TRANSIENT_CLASSES = new Set(["08", "40", "53", "55", "57", "58"]);
/** `read_only_sql_transaction`: the server we are connected to has become a standby. */
const READ_ONLY = "25006";

export function isTransient(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? "";
    return TRANSIENT_CLASSES.has(code.slice(0, 2)) || code === READ_ONLY;
  }
  // What `pg` throws for a connection that broke, timed out or was refused is a plain Error; a TypeError is our own fault.
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
}
