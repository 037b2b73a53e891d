/**
 * Loads components from modules: `modules: [./my-processor.js]`. Their exported definitions are added to the shipped
 * ones.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Definition } from '../component/definition.ts';
import { SECTIONS } from './config.ts';
import type { Node } from './node.ts';
import { type Diagnostics, quote } from './diagnostics.ts';
import { parseComponentType } from './component-id.ts';
import { errorCode } from '../errors.ts';

const MAX_MODULES = 50;
/** A module that never finishes loading must not hang the start. */
const IMPORT_TIMEOUT_MS = 10_000;

export interface ModulesPlace {
  readonly workingDirectory: string;
  readonly importModule: (url: string) => Promise<Readonly<Record<string, unknown>>>;
}

/** The shipped definitions and those of the listed modules. A module's path is relative to the file that names it. */
export async function loadModules(
  list: Node | undefined,
  shipped: readonly Definition[],
  place: ModulesPlace,
  diagnostics: Diagnostics,
): Promise<readonly Definition[]> {
  if (list === undefined || (list.kind === 'scalar' && list.value === null)) return shipped;
  if (list.kind !== 'list' || list.items.length > MAX_MODULES) {
    diagnostics.error(list.origin, `modules must be a list of at most ${MAX_MODULES} paths`, 'as [./my-processor.js]');
    return shipped;
  }
  const known = [...shipped];
  for (const item of list.items) {
    if (item.kind !== 'scalar' || typeof item.value !== 'string' || item.value === '') {
      diagnostics.error(item.origin, 'a module must be a path or the name of a package');
      continue;
    }
    for (const definition of await definitionsOf(item.value, item, place, diagnostics)) {
      if (known.some((other) => other.kind === definition.kind && other.type === definition.type)) {
        diagnostics.error(
          item.origin,
          `the ${definition.kind} "${definition.type}" exists already`,
          'give it another type',
        );
      } else known.push(definition);
    }
  }
  return known;
}

async function definitionsOf(
  name: string,
  item: Node,
  place: ModulesPlace,
  diagnostics: Diagnostics,
): Promise<readonly Definition[]> {
  try {
    const url = locate(name, item, place);
    // Checked before the import, whose error for a missing file depends on the installed loaders.
    if (url.startsWith('file:') && !existsSync(fileURLToPath(url))) return reportAbsent(name, item, diagnostics);
    const exported = await inTime(place.importModule(url));
    const found = Object.values(exported).filter(isDefinition);
    if (found.length === 0) {
      diagnostics.error(
        item.origin,
        `the module ${quote(name)} exports no component`,
        'export what defineProcessor returns',
      );
    }
    return found;
  } catch (error) {
    if (isAbsent(error, name)) return reportAbsent(name, item, diagnostics);
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    diagnostics.error(item.origin, `the module ${quote(name)} cannot be loaded: ${reason}`);
    return [];
  }
}

function reportAbsent(name: string, item: Node, diagnostics: Diagnostics): readonly Definition[] {
  const hint = 'a path is relative to the file that names it';
  diagnostics.error(item.origin, `the module ${quote(name)} does not exist`, hint);
  return [];
}

/** False when the module exists and one of its own imports does not. */
function isAbsent(error: unknown, name: string): boolean {
  if (!(error instanceof Error)) return false;
  if (errorCode(error) === 'MODULE_NOT_FOUND') return true;
  const file = name.replace(/^\.\.?[/\\]/u, '');
  return (
    errorCode(error) === 'ERR_MODULE_NOT_FOUND' && error.message.split(' imported from ')[0]?.includes(file) === true
  );
}

function locate(name: string, item: Node, { workingDirectory }: ModulesPlace): string {
  const file = item.origin.source.name;
  const folder = file.startsWith('--') ? workingDirectory : dirname(resolve(workingDirectory, file));
  if (isAbsolute(name)) return pathToFileURL(name).href;
  if (/^\.\.?[/\\]/u.test(name)) return pathToFileURL(resolve(folder, name)).href;
  return pathToFileURL(createRequire(resolve(folder, 'config.yaml')).resolve(name)).href;
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not loaded within ${IMPORT_TIMEOUT_MS / 1_000} s`)), IMPORT_TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function isDefinition(value: unknown): value is Definition {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, type, schema, create } = value as Partial<Record<keyof Definition, unknown>>;
  const kinds: readonly unknown[] = Object.values(SECTIONS);
  return (
    kinds.includes(kind) &&
    typeof type === 'string' &&
    parseComponentType(type) !== null &&
    typeof schema === 'object' &&
    typeof create === 'function'
  );
}
