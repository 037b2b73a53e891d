/** Detects a pooler between us and the server that changes the session between transactions. */
import type pg from 'pg';
import { repeatCanceled } from './session-settings.ts';

const ROUNDS = 3;

/**
 * Two connections query their session in turn. A transaction pooler gives the second one the session of the first, or
 * moves the first one; with real sessions the two differ.
 */
export async function sharesSessions(one: pg.Client, other: pg.Client): Promise<boolean> {
  const first = await sessionOf(one);
  for (let round = 0; round < ROUNDS; round++) {
    if ((await sessionOf(other)) === first || (await sessionOf(one)) !== first) return true;
  }
  return false;
}

async function sessionOf(client: pg.Client): Promise<number> {
  const { rows } = await repeatCanceled(() => client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'));
  return Number(rows[0]?.pid);
}
