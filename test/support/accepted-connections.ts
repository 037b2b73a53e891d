import { Socket } from 'node:net';

/** The connections to a port of this process that the server has not closed. */
export function acceptedConnections(address: string): number {
  const port = Number(address.split(':').at(-1));
  // The types do not have it, and nothing else lists the sockets of a process.
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): unknown[] };
  return handles.call(process).filter((handle) => handle instanceof Socket && handle.localPort === port).length;
}
