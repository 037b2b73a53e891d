/** Names all endpoints that other programs hold, and not only the first one at which a start failed. */
import { parseListenEndpoint } from '../component/endpoint.ts';
import type { ListenPlace } from '../component/listening.ts';
import { UserError } from '../errors.ts';
import { inUse, openPort } from '../net/port.ts';

/** `places`: those that this process does not hold. */
export async function nameTaken(error: unknown, places: readonly ListenPlace[]): Promise<unknown> {
  if (!isTaken(error)) return error;
  const taken: ListenPlace[] = [];
  // One after the other: two parts of the configuration may have the same endpoint.
  for (const place of places) if (!(await canOpen(place))) taken.push(place);
  return taken.length < 2 ? error : inUse(...taken);
}

/** A Unix domain socket is not tried: that would remove the file of a dead program. */
async function canOpen(place: ListenPlace): Promise<boolean> {
  const endpoint = parseListenEndpoint(place.endpoint);
  if (endpoint === null || 'path' in endpoint) return true;
  try {
    const port = await openPort(endpoint, place, (connection) => void connection.destroy());
    port.close();
    return true;
  } catch (error) {
    return !isTaken(error);
  }
}

const isTaken = (error: unknown): boolean => error instanceof UserError && error.reason === 'exists';
