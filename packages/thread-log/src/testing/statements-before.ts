import type { Envelope } from "@throughline/ai-core";
import pg from "pg";
import { encodeEnvelope } from "../log/entries.js";
import { decodeNotification, encodeNotification } from "../postgres/connection/notifications.js";
import { subjectKey, type ThreadRef, threadTag } from "../thread-ref.js";

/**
 * An instance of the version before entries were stored by template: its statements, word for word, on connections of its own.
 * For tests of rolling upgrades. It prepares statements by name, as it did, so that they outlive a migration.
 */
export interface InstanceBefore {
  append(
    thread: ThreadRef,
    token: bigint,
    appendId: string,
    envelopes: readonly Envelope[],
  ): Promise<"ok" | "deleted" | "fenced" | "again">;
  read(thread: ThreadRef, afterSeq: number, limit: number): Promise<{ seq: number; envelope: unknown }[]>;
  load(thread: ThreadRef, foldVersion: number): Promise<LoadedBefore>;
  saveSnapshot(
    thread: ThreadRef,
    at: { epoch: string; seq: number },
    foldVersion: number,
    state: unknown,
  ): Promise<boolean>;
  excess(thread: ThreadRef, maxBytes: number): Promise<number>;
  trim(thread: ThreadRef, through: number): Promise<number>;
  deleteThread(thread: ThreadRef): Promise<void>;
  /** What other instances have told it. */
  wokenTags(): readonly string[];
  close(): Promise<void>;
}

export interface LoadedBefore {
  readonly snapshot: unknown;
  readonly envelopes: readonly unknown[];
}

const INSTANCE = "instance";

export async function openInstanceBefore(url: string, schema: string): Promise<InstanceBefore> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const woken: string[] = [];
  client.on("notification", ({ payload = "" }) => {
    const message = decodeNotification(INSTANCE, payload);
    if (message?.kind === "threads") woken.push(...message.tags);
  });
  await client.query(`listen ${schema}_wake`);
  const keyOf = (thread: ThreadRef) => [thread.account, subjectKey(thread), thread.threadId];

  async function trim(thread: ThreadRef, through: number): Promise<number> {
    await client.query("begin");
    const { rows: found } = await client.query(
      `select epoch from ${schema}.threads where account = $1 and subject = $2 and thread_id = $3`,
      keyOf(thread),
    );
    const { rows } = await client.query(
      `select log_id, floor, case when epoch = $4 then least($5::bigint, snapshot_seq) else 0 end as cut
       from ${schema}.threads where account = $1 and subject = $2 and thread_id = $3 for update`,
      [...keyOf(thread), found[0].epoch, through],
    );
    const [row] = rows;
    const [floor, cut] = [Number(row.floor), Number(row.cut)];
    const rest = await client.query(
      `delete from ${schema}.entries where log_id = $1 and seq >= $2 and seq <= $3 and end_of_run is null`,
      [row.log_id, floor, cut],
    );
    const terminals = await client.query(
      `delete from ${schema}.entries where log_id = $1 and seq <= $2 and end_of_run is not null and seq <= (
         select seq from ${schema}.entries where log_id = $1 and seq <= $2 and end_of_run is not null
         order by seq desc offset $3 limit 1)`,
      [row.log_id, cut, 1_000],
    );
    await client.query(`delete from ${schema}.snapshots where log_id = $1 and seq < $2`, [row.log_id, cut]);
    await client.query(
      `update ${schema}.threads set floor = $2::bigint + 1, held_bytes =
         (select coalesce(sum(bytes), 0) from ${schema}.entries where log_id = $1 and seq > $2) where log_id = $1`,
      [row.log_id, cut],
    );
    await client.query("commit");
    return (rest.rowCount ?? 0) + (terminals.rowCount ?? 0);
  }

  return {
    async append(thread, token, appendId, envelopes) {
      const entries = envelopes.map(encodeEnvelope);
      const keys = [...keyOf(thread).map((part) => [part]), [token.toString()], [appendId]];
      const { rows } = await client.query({
        name: "before_append",
        text: appendStatement(schema),
        values: [
          ...keys,
          [entries.length],
          [entries.reduce((sum, { bytes }) => sum + bytes, 0)],
          entries.map(() => 1),
          entries.map((_, n) => n + 1),
          entries.map(({ text }) => text).join("\u001e"),
          entries.some(({ endOfRun }) => endOfRun !== undefined)
            ? entries.map(({ endOfRun }) => endOfRun ?? "").join("\u001e")
            : null,
          `${schema}_wake`,
          encodeNotification(INSTANCE, { kind: "threads", tags: [threadTag(thread)] }),
        ],
      });
      if (rows[0]?.moved !== null) return "ok";
      const { rows: refused } = await client.query(refusalStatement(schema), keys);
      return refused[0]?.verdict ?? "deleted";
    },
    async read(thread, afterSeq, limit) {
      const { rows } = await client.query({
        name: "before_read",
        text: readStatement(schema),
        values: [...keyOf(thread).map((part) => [part]), [null], [afterSeq], limit],
      });
      return rows
        .filter(({ seq }) => seq !== null)
        .map(({ seq, envelope }) => ({ seq: Number(seq), envelope: JSON.parse(envelope) }));
    },
    async load(thread, foldVersion) {
      const { rows } = await client.query({
        name: "before_load",
        text: loadStatement(schema),
        values: [...keyOf(thread), foldVersion, null, 256, 1_000],
      });
      const [row] = rows;
      return {
        snapshot: row.state === null ? undefined : JSON.parse(row.state),
        envelopes:
          row.envelopes === null ? [] : row.envelopes.split("\u001e").map((text: string) => JSON.parse(text)),
      };
    },
    async saveSnapshot(thread, { epoch, seq }, foldVersion, state) {
      const { rows } = await client.query(saveSnapshotStatement(schema), [
        ...keyOf(thread),
        epoch,
        seq,
        foldVersion,
        JSON.stringify(state),
        false,
      ]);
      return rows.length === 1;
    },
    async excess(thread, maxBytes) {
      const { rows } = await client.query(excessStatement(schema), [...keyOf(thread), null, maxBytes, null]);
      return Number(rows[0]?.through);
    },
    trim,
    async deleteThread(thread) {
      await client.query("begin");
      const { rows } = await client.query(deleteStatement(schema), keyOf(thread));
      const logs = rows.map(({ log_id }) => log_id);
      await client.query(`delete from ${schema}.entries where log_id = any($1)`, [logs]);
      await client.query(`delete from ${schema}.snapshots where log_id = any($1)`, [logs]);
      await client.query("commit");
    },
    wokenTags: () => woken,
    close: () => client.end(),
  };
}

const appendStatement = (schema: string) => `
with moved as (
  update ${schema}.threads t
  set head = t.head + a.n, fence = a.token, last_append = a.append_id, held_bytes = t.held_bytes + a.bytes,
    unfolded_bytes = t.unfolded_bytes + a.bytes, updated_at = clock_timestamp()
  from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::int[], $7::int[])
    with ordinality as a (account, subject, thread_id, token, append_id, n, bytes, ord)
  where t.account = a.account and t.subject = a.subject and t.thread_id = a.thread_id
    and t.fence between 1 and a.token and not t.deleted and t.last_append is distinct from a.append_id
  returning a.ord, a.n, t.log_id, t.epoch, t.head, t.floor, t.held_bytes, t.snapshot_seq, t.unfolded_bytes
), written as (
  insert into ${schema}.entries (log_id, seq, at, bytes, end_of_run, envelope)
  select m.log_id, m.head - m.n + e.n, clock_timestamp(), octet_length(e.envelope), e.end_of_run, e.envelope
  from unnest($8::int[], $9::int[], string_to_array($10, chr(30)), string_to_array($11, chr(30), ''))
    as e (ord, n, envelope, end_of_run)
  join moved m on m.ord = e.ord
)
select
  string_agg(concat_ws(' ', ord, epoch, head, floor, held_bytes, snapshot_seq, unfolded_bytes), ',') as moved,
  (select pg_notify($12, $13) from moved limit 1)::text as told
from moved`;

const refusalStatement = (schema: string) => `
select a.ord::int, epoch, head, floor, held_bytes, snapshot_seq, unfolded_bytes,
  case when t.deleted or t.fence = 0 then 'deleted' when t.last_append = a.append_id then 'again'
    else 'fenced' end as verdict
from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
  with ordinality as a (account, subject, thread_id, token, append_id, ord)
join ${schema}.threads t on t.account = a.account and t.subject = a.subject and t.thread_id = a.thread_id`;

const readStatement = (schema: string) => `
select r.ord::int, t.epoch, t.head, t.floor, t.deleted, e.seq, e.envelope
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
  with ordinality as r (account, subject, thread_id, epoch, after_seq, ord)
join ${schema}.threads t on t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
left join lateral (
  select seq, envelope from ${schema}.entries
  where log_id = t.log_id and seq > r.after_seq and seq >= t.floor and (r.epoch is null or r.epoch = t.epoch)
  order by seq limit $6
) e on true
order by r.ord, e.seq`;

const snapshotSeq = (schema: string, bound: string) => `
    select seq from ${schema}.snapshots where log_id = t.log_id and fold_version = $4 and seq + 1 >= t.floor ${bound}
    order by seq desc limit 1`;

const loadStatement = (schema: string) => `
select t.epoch, t.head, t.floor, t.deleted, s.seq as snapshot_seq, s.state, (
  select string_agg(page.envelope, chr(30) order by page.seq) from (
    select e.seq, e.envelope from ${schema}.entries e
    where e.log_id = t.log_id and e.seq > coalesce(s.seq, 0) and e.seq >= t.floor
    order by e.seq limit $7) page) as envelopes
from ${schema}.threads t
left join lateral (${snapshotSeq(schema, "")}) newest on true
left join lateral (${snapshotSeq(schema, "and seq < $5::bigint")}) earlier on newest.seq - $5::bigint between 0 and $6::int
left join ${schema}.snapshots s
  on s.log_id = t.log_id and s.fold_version = $4 and s.seq = coalesce(earlier.seq, newest.seq)
where t.account = $1 and t.subject = $2 and t.thread_id = $3`;

const saveSnapshotStatement = (schema: string) => `
with here as (
  select log_id from ${schema}.threads
  where account = $1 and subject = $2 and thread_id = $3 and epoch = $4 and floor <= $5::bigint + 1 and not deleted
    and ($8 or head >= $5)
  for update
), known as (
  select s.seq from ${schema}.snapshots s join here using (log_id) where s.fold_version = $6::int
), saved as (
  insert into ${schema}.snapshots (log_id, fold_version, seq, state)
  select log_id, $6, $5, $7::text from here where not exists (select 1 from known where seq >= $5)
  on conflict do nothing
  returning log_id, seq
)
update ${schema}.threads t
set snapshot_seq = greatest(t.snapshot_seq, saved.seq), head = greatest(t.head, saved.seq),
  unfolded_bytes = case when $8 or saved.seq <= t.snapshot_seq then t.unfolded_bytes else
    (select coalesce(sum(bytes), 0) from ${schema}.entries e where e.log_id = t.log_id and e.seq > saved.seq) end
from saved where t.log_id = saved.log_id
returning t.log_id, (select array_agg(seq order by seq desc) from known) as older`;

const excessStatement = (schema: string) => `
select t.epoch, t.floor, greatest(
  t.head - $4::bigint,
  case when t.held_bytes > $5::bigint then (
    select max(seq) from (
      select seq, sum(bytes) over (order by seq desc) as total from ${schema}.entries e
      where e.log_id = t.log_id and e.seq >= t.floor
    ) sums where total > $5::bigint
  ) end,
  case when $6::double precision is not null then (
    select max(seq) from ${schema}.entries e where e.log_id = t.log_id and e.seq >= t.floor
      and e.at < clock_timestamp() - $6::double precision * interval '1 millisecond'
  ) end,
  0
) as through
from ${schema}.threads t where t.account = $1 and t.subject = $2 and t.thread_id = $3`;

const deleteStatement = (schema: string) => `
with living as (
  select log_id from ${schema}.threads
  where account = $1 and ($2::text is null or subject = $2) and ($3::text is null or thread_id = $3)
    and not deleted and fence > 0
  order by log_id for update
)
update ${schema}.threads t
set epoch = replace(gen_random_uuid()::text, '-', ''), fence = greatest(t.fence + 1, nextval('${schema}.fences')),
  deleted = true, head = 0, floor = 1, last_append = null, held_bytes = 0, snapshot_seq = 0, unfolded_bytes = 0,
  state_key = ''
from living where t.log_id = living.log_id
returning t.log_id, t.subject, t.thread_id`;
