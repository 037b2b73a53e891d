/** Whether a pooler between us and the server gives each transaction another session. */
import type pg from 'pg';

const ROUNDS = 3;

/**
 * Two connections ask for their session in turn. A pooler of transactions lends the second one the session of the first, or moves the
 * first one; with sessions of their own both stay apart.
 */
export async function sharesSessions(one: pg.Client, other: pg.Client): Promise<boolean> {
  const first = await sessionOf(one);
  for (let round = 0; round < ROUNDS; round++) {
    if ((await sessionOf(other)) === first || (await sessionOf(one)) !== first) return true;
  }
  return false;
}

async function sessionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return Number(rows[0]?.pid);
}
