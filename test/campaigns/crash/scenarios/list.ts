/** Every scenario, in the order in which `all` runs them. */
import { ambiguous } from './ambiguous.ts';
import { clocks } from './clocks.ts';
import type { Scenario } from './scenario.ts';
import { contention } from './contention.ts';
import { database } from './database.ts';
import { file } from './file.ts';
import { kill, objects, objectsBeside } from './kill.ts';
import { proxy } from './proxy.ts';
import { duplicates } from './duplicates.ts';

export const SCENARIOS: readonly Scenario[] = [
  contention,
  duplicates,
  ambiguous,
  proxy,
  kill,
  objects,
  objectsBeside,
  clocks,
  file,
  database,
];
