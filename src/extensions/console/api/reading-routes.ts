/** The routes that read stored telemetry. */
import type { Route } from '../server/route.ts';
import { listTraces } from './traces.ts';

export const READING_ROUTES: readonly Route[] = [listTraces];
