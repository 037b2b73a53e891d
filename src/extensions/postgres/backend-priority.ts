/** The priority of a process of the embedded server that works beside ingest. */
import { writeFile } from 'node:fs/promises';
import type pg from 'pg';
import { yieldToIngest } from '../../component/process-priority.ts';

/** On a busy core such a process gets a tenth of the time of one that writes. */
const PRIORITY = 10;

/** Lowers the priority of the server's process for this connection. The server must be on this machine. */
export async function lowerPriority(client: pg.ClientBase): Promise<void> {
  const { processID } = client as unknown as { readonly processID: number | null };
  if (processID === null) return;
  yieldToIngest(processID, PRIORITY);
  // Each process of the server is a session. Linux can share the cores among sessions; their priority is set here.
  await writeFile(`/proc/${processID}/autogroup`, String(PRIORITY)).catch(() => undefined);
}
