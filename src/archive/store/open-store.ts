/** Opens the object store that a URL names: a folder path, a `file:` URL or `s3://bucket/prefix`. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../../errors.ts';
import { FolderStore } from './folder-store.ts';
import type { ObjectStore } from './object-store.ts';

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface StoreSettings {
  /** Region, endpoint and credentials of S3 come from it. */
  readonly environment: Environment;
}

/** A name with a colon. A single letter is a drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/iu;

/** Opens nothing yet: the first call connects. Throws a `UserError` when the URL names no store. */
export function openStore(url: string, _settings: StoreSettings): ObjectStore {
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (url !== '' && scheme === undefined) return new FolderStore(resolve(url));
  if (scheme === 'file') return new FolderStore(pathOf(url));
  throw new UserError(`${JSON.stringify(url)} names no object store`, 'Write a folder, or s3://bucket/prefix.');
}

function pathOf(url: string): string {
  try {
    return resolve(fileURLToPath(url));
  } catch {
    throw new UserError(`${JSON.stringify(url)} is not the URL of a folder`, 'Write file:///path/of/the/folder.');
  }
}
