import pg from "pg";

/** Tables of any schema with one of these texts in any column of any row, however that column holds it. */
export async function tablesHolding(url: string, texts: readonly string[]): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    // A row as text shows bytes as hex.
    const forms = texts.flatMap((text) => [text, Buffer.from(text).toString("hex")]);
    const holding: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ count: string }>(
        `select count(*) from ${name} as held where exists (
           select 1 from unnest($1::text[]) as form where position(form in held::text) > 0)`,
        [forms],
      );
      if (Number(rows[0]?.count) > 0) holding.push(name);
    }
    return holding;
  } finally {
    await client.end();
  }
}
