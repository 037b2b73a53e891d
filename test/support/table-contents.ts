/** The rows of all tables of a database as hashes, to compare two databases. */
import pg from 'pg';

/** The number of rows of each table of the schema, and a hash that does not depend on their order. */
export async function tableContents(url: string): Promise<Readonly<Record<string, string>>> {
  return withClient(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = 'sluice'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migrations'
       ORDER BY relname`,
    );
    const contents: Record<string, string> = {};
    for (const { name } of tables) {
      const { rows } = await client.query<{ found: string }>(
        `SELECT count(*) || ' rows ' || coalesce(md5(string_agg(h, '' ORDER BY h)), '') AS found
         FROM (SELECT md5(t::text) AS h FROM sluice.${name} t) hashed`,
      );
      contents[name] = rows[0]?.found ?? '';
    }
    return contents;
  });
}

/** The partitions with their bounds, and the next value of each sequence. */
export async function tableStructure(url: string): Promise<readonly string[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ line: string }>(
      `SELECT c.relname || ' ' || coalesce(pg_get_expr(c.relpartbound, c.oid), '') AS line FROM pg_class c
       WHERE c.relnamespace = 'sluice'::regnamespace AND c.relkind IN ('r', 'p')
       UNION ALL SELECT sequencename || ' ' || coalesce(last_value, 0) FROM pg_sequences WHERE schemaname = 'sluice' ORDER BY 1`,
    );
    return rows.map(({ line }) => line);
  });
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query("SET TimeZone = 'UTC'");
    return await work(client);
  } finally {
    await client.end();
  }
}
