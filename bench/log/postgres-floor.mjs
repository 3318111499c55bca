import pg from "pg";
import { groupWrites } from "./group-writes.mjs";
import { envelopeOf } from "./ours.mjs";

const INSERT = `
  with written as (
    insert into floor_entries (thread, seq, at, envelope)
    select thread, seq, now(), envelope from unnest($1::bigint[], $2::bigint[], $3::text[]) as e (thread, seq, envelope)
  )
  select pg_notify('floor', $4)`;
const SELECT = `
  select e.thread, e.seq, e.envelope from unnest($1::bigint[], $2::bigint[]) as a (thread, seq)
  join floor_entries e on e.thread = a.thread and e.seq > a.seq order by e.thread, e.seq`;

/**
 * Rows by bare `pg`: one insert per transaction with its notification, one select of what changed per notification.
 *
 * @returns {Promise<import("./services.mjs").Side>}
 */
export async function createPostgresFloor(url) {
  const writer = new pg.Client({ connectionString: url });
  const reader = new pg.Client({ connectionString: url });
  await Promise.all([writer.connect(), reader.connect()]);
  await writer.query(
    "create table floor_entries (thread bigint, seq bigint, at timestamptz, envelope text, primary key (thread, seq))",
  );
  await reader.query("listen floor");
  const heads = new Map();

  const append = groupWrites((rows) => {
    const columns = { thread: [], seq: [], envelope: [] };
    for (const { thread, text } of rows) {
      const seq = (heads.get(thread) ?? 0) + 1;
      heads.set(thread, seq);
      columns.thread.push(thread);
      columns.seq.push(seq);
      columns.envelope.push(JSON.stringify(envelopeOf({ threadId: `thread-${thread}` }, text)));
    }
    const dirty = [...new Set(columns.thread)].join(",");
    const values = [columns.thread, columns.seq, columns.envelope, dirty];
    return writer.query({ name: "insert", text: INSERT, values });
  });

  return {
    append,
    async watch(threads, onText) {
      const seen = new Map(threads.map((thread) => [thread, heads.get(thread) ?? 0]));
      const dirty = new Set();
      let reading;
      async function read() {
        while (dirty.size > 0) {
          const asked = [...dirty];
          dirty.clear();
          const values = [asked, asked.map((thread) => seen.get(thread))];
          const { rows } = await reader.query({ name: "select", text: SELECT, values });
          for (const { thread, seq, envelope } of rows) {
            seen.set(Number(thread), Number(seq));
            onText(JSON.parse(envelope).payload.value);
          }
        }
        reading = undefined;
      }
      const onNotification = ({ payload }) => {
        for (const thread of payload.split(",").map(Number)) if (seen.has(thread)) dirty.add(thread);
        reading ??= read();
      };
      reader.on("notification", onNotification);
      return async () => {
        reader.off("notification", onNotification);
        await reading;
      };
    },
    async close() {
      await Promise.all([writer.end(), reader.end()]);
    },
  };
}
