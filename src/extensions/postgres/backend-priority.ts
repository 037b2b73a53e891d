/** The priority of a process of the embedded server that works beside ingest. */
import { writeFile } from 'node:fs/promises';
import type pg from 'pg';
import { yieldToIngest } from '../../component/process-priority.ts';

/** On a busy core such a process gets a tenth of the time of one that writes. */
const PRIORITY = 10;

/** For a connection to a server on this machine. */
export async function lowerPriority(client: pg.ClientBase): Promise<void> {
  const { processID } = client as unknown as { readonly processID: number | null };
  if (processID === null) return;
  yieldToIngest(processID, PRIORITY);
  // Each process of the server is a session. A system that shares its cores among sessions reads their priority here.
  await writeFile(`/proc/${processID}/autogroup`, String(PRIORITY)).catch(() => undefined);
}
