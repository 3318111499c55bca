import type pg from "pg";
import { beingDeleted, type ClosedScope, type GatedScope } from "../port/scope-gate.js";
import { subjectKey } from "../port/thread-ref.js";

// What makes something of an account holds the account's lock together with others until it commits; what closes a part of
// the account holds it alone. So a deletion sees all that began before it, and all that begins after sees the closure.

/** For stores that make what a deletion would have to find: call it first in the transaction that makes it. Throws `beingDeleted`. */
export async function admitInTransaction(
  client: pg.ClientBase,
  schema: string,
  { account, threadId, ...scope }: GatedScope,
): Promise<void> {
  await client.query("select pg_advisory_xact_lock_shared(hashtext('throughline deletions'), hashtext($1))", [
    account,
  ]);
  // A statement of its own: what it sees must be no older than the lock.
  const { rowCount } = await client.query(
    `select 1 from ${schema}.closures where account = $1
       and (subject is null or subject = $2) and (thread_id is null or thread_id = $3) limit 1`,
    [account, subjectKey(scope), threadId ?? null],
  );
  if (rowCount !== 0) throw beingDeleted();
}

/** Waits for everything that is being made in the account, and keeps the rest out until the transaction ends. */
export async function lockAccount(client: pg.ClientBase, account: string): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtext('throughline deletions'), hashtext($1))", [
    account,
  ]);
}

/** From the commit on nothing may start in the scope, until `openScope`. Closing it again under the same id changes nothing. */
export async function closeScope(
  client: pg.ClientBase,
  schema: string,
  id: string,
  { account, subject, threadId }: ClosedScope,
): Promise<void> {
  await lockAccount(client, account);
  await client.query(
    `insert into ${schema}.closures (closure_id, account, subject, thread_id) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [id, account, subject ?? null, threadId ?? null],
  );
}

export async function openScope(client: pg.ClientBase, schema: string, id: string): Promise<void> {
  await client.query(`delete from ${schema}.closures where closure_id = $1`, [id]);
}
