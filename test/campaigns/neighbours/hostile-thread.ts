/** The hostile client, in a thread of its own, so that its work does not count as waiting of the honest one. */
import { workerData } from 'node:worker_threads';
import { ATTACKS } from './attacks.ts';
import type { Ports } from './scene.ts';

const { name, ports } = workerData as { readonly name: string; readonly ports: Ports };
ATTACKS[name]?.(ports);
