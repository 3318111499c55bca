import { createHash } from "node:crypto";
import type pg from "pg";

/** PostgresSaver's reading of one checkpoint: the one that is named, or the newest. */
const ONE_CHECKPOINT = /(checkpoint_id = \$3|order by checkpoint_id desc limit 1)$/i;

/**
 * A pool for PostgresSaver in which reading one checkpoint stays prepared. Planning that statement takes the database
 * longer than answering it. Lists are left alone: their texts differ, and a connection keeps what it has prepared.
 */
export function withPreparedReads(pool: pg.Pool): pg.Pool {
  const names = new Map<string, string>();

  function query(text: unknown, values: unknown): unknown {
    if (typeof text !== "string" || !ONE_CHECKPOINT.test(text)) {
      return Reflect.apply(pool.query, pool, [text, values]);
    }
    const name = names.get(text) ?? createHash("sha1").update(text).digest("hex");
    names.set(text, name);
    return Reflect.apply(pool.query, pool, [{ name, text, values }]);
  }

  return new Proxy(pool, {
    get(_, key) {
      if (key === "query") return query;
      const value: unknown = Reflect.get(pool, key);
      return typeof value === "function" ? value.bind(pool) : value;
    },
  });
}
