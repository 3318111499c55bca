import type pg from "pg";

/** The texts of all statements that the pools send from now on, of transactions too. */
export function countStatements(...pools: readonly pg.Pool[]): readonly string[] {
  const texts: string[] = [];
  const counted = new WeakSet<pg.PoolClient>();
  for (const pool of pools) {
    pool.on("acquire", (client) => {
      if (counted.has(client)) return;
      counted.add(client);
      const { query } = client;
      client.query = new Proxy(query, {
        apply(target, self, args: unknown[]) {
          const [asked] = args;
          texts.push(typeof asked === "string" ? asked : JSON.stringify(asked));
          return Reflect.apply(target, self, args);
        },
      });
    });
  }
  return texts;
}
