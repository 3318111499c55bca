import pg from "pg";
import { createLagHistogram } from "./lag-histogram.mjs";

const MOST = 60_000;

/**
 * Receipts of frames by their cursor, to be held against the time at which PostgreSQL wrote the frame's row. The row is written
 * before its transaction is committed, so the commit itself is part of the lag. Of more than 60,000 receipts every second one,
 * then every fourth, and so on, is kept.
 */
export function createReceipts() {
  let kept = [];
  let every = 1;
  let count = 0;
  return {
    add(cursor, now) {
      if (cursor === undefined || count++ % every !== 0) return;
      kept.push({ cursor, now });
      if (kept.length < MOST) return;
      kept = kept.filter((_, index) => index % 2 === 0);
      every *= 2;
    },
    /** @param {string} databaseUrl */
    async lags(databaseUrl) {
      const [epochs, positions, times] = [[], [], []];
      for (const { cursor, now } of kept) {
        const [epoch, position] = cursor.split(".");
        epochs.push(epoch);
        positions.push(position);
        times.push(now);
      }
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      try {
        const { rows } = await client.query(
          `select r.now - extract(epoch from e.at) * 1000 as lag
           from unnest($1::text[], $2::bigint[], $3::double precision[]) as r (epoch, seq, now)
           join throughline.threads t on t.epoch = r.epoch
           join throughline.log_entries e on e.log_id = t.log_id and e.seq = r.seq`,
          [epochs, positions, times],
        );
        const histogram = createLagHistogram();
        for (const { lag } of rows) histogram.add(Number(lag));
        return histogram.summary();
      } finally {
        await client.end();
      }
    },
  };
}
