import pg from "pg";
import { groupWrites } from "./group-writes.mjs";
import { envelopeOf } from "./ours.mjs";

const TABLE =
  "create table if not exists floor_entries (thread bigint, seq bigint, at timestamptz, envelope text, primary key (thread, seq))";
const INSERT = `
  insert into floor_entries (thread, seq, at, envelope)
  select thread, seq, now(), envelope from unnest($1::bigint[], $2::bigint[], $3::text[]) as e (thread, seq, envelope)`;
const SELECT = `
  select e.thread, e.seq, e.envelope from unnest($1::bigint[], $2::bigint[]) as a (thread, seq)
  join floor_entries e on e.thread = a.thread and e.seq > a.seq order by e.thread, e.seq`;

/**
 * Rows by bare `pg`: one insert per transaction, one notification after it, and one select of what changed per notification.
 * Notifications go over a connection of their own, one at a time, each with all threads that changed meanwhile.
 *
 * @returns {Promise<import("./services.mjs").Side>}
 */
export async function createPostgresFloor(url) {
  const [writer, notifier, reader] = Array.from(
    { length: 3 },
    () => new pg.Client({ connectionString: url }),
  );
  await Promise.all([writer.connect(), notifier.connect(), reader.connect()]);
  await writer.query(TABLE);
  await notifier.query("set synchronous_commit = off");
  await reader.query("listen floor");
  const heads = new Map();
  const { tell, sent } = tellOthers(notifier);

  const append = groupWrites(async (rows) => {
    const columns = { thread: [], seq: [], envelope: [] };
    for (const { thread, text } of rows) {
      const seq = (heads.get(thread) ?? 0) + 1;
      heads.set(thread, seq);
      columns.thread.push(thread);
      columns.seq.push(seq);
      columns.envelope.push(JSON.stringify(envelopeOf({ threadId: `thread-${thread}` }, text)));
    }
    const values = [columns.thread, columns.seq, columns.envelope];
    await writer.query({ name: "insert", text: INSERT, values });
    tell(columns.thread);
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
      await sent();
      await Promise.all([writer.end(), notifier.end(), reader.end()]);
    },
  };
}

function tellOthers(notifier) {
  let waiting = new Set();
  let sending;
  async function pump() {
    while (waiting.size > 0) {
      const payload = [...waiting].join(",");
      waiting = new Set();
      await notifier.query({ name: "notify", text: "select pg_notify('floor', $1)", values: [payload] });
    }
    sending = undefined;
  }
  return {
    tell(threads) {
      for (const thread of threads) waiting.add(thread);
      sending ??= pump();
    },
    sent: () => sending,
  };
}
