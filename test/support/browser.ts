/**
 * The Chromium of this machine: the path in `SLUICE_CHROMIUM`, or a program on the path. With
 * `SLUICE_CHROMIUM=required` the one on the path must exist.
 */
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import type { Browser } from 'playwright-core';
import type { Test } from 'tap';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const REQUIRED = 'required';

/** Null where there is none and none is required. Then the tests of `what` are reported as skipped. */
export function chromiumFor(t: Pick<Test, 'pass'>, what: string): string | null {
  const chromium = findChromium();
  if (chromium === null)
    t.pass(`NOT tested without a Chromium: ${what}`, { skip: 'set SLUICE_CHROMIUM to the path of a Chromium' });
  return chromium;
}

/** Null where there is none and none is required. */
export function findChromium(): string | null {
  const wanted = process.env['SLUICE_CHROMIUM'] ?? '';
  if (wanted !== '' && wanted !== REQUIRED) return wanted;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
  if (found === undefined && wanted === REQUIRED) throw new Error('there is no Chromium on the path');
  return found ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Chromium refuses to run as root with its sandbox. The pages are ours, on loopback. An import of the package would
 * search each of its files for names, which takes a third of a second.
 */
export function launchChromium(executablePath: string): Promise<Browser> {
  const { chromium } = createRequire(import.meta.url)('playwright-core') as typeof import('playwright-core');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
