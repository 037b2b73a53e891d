/** The hostile client, in another thread, so that its work does not delay the honest one. */
import { workerData } from 'node:worker_threads';
import { ATTACKS } from './attacks.ts';
import type { Ports } from './scene.ts';

const { name, ports } = workerData as { readonly name: string; readonly ports: Ports };
ATTACKS[name]?.(ports);
