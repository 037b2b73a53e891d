/** Loads configurations from the text of a test. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';
import { loadConfig, type LoadRequest } from '../../src/config/load.ts';
import { SAMPLE_COMPONENTS } from './sample-components.ts';

const SCHEMAS = new CompiledSchemas();

export type Files = Readonly<Record<string, string>>;

/** A new folder with these files. */
export function folderOf(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-config-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** Loads `a.yaml`, or the files named. */
export function load(files: Files, request: Partial<LoadRequest> = {}) {
  return loadConfig({
    files: ['a.yaml'],
    definitions: SAMPLE_COMPONENTS,
    environment: {},
    workingDirectory: folderOf(files),
    schemas: SCHEMAS,
    ...request,
  });
}

/** A valid configuration around the receivers of a test. */
export const REST = `
processors: { auth: {} }
exporters: { file: { path: out.ndjson } }
service: { ledger: memory, pipelines: { traces: { receivers: [otlp], processors: [auth], exporters: [file] } } }
`;
