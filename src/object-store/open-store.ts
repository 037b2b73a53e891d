/** Opens the object store that a URL names: a folder path, a `file:` URL or `s3://bucket/prefix`. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../errors.ts';
import type { Environment } from './aws-credentials.ts';
import { FolderStore } from './folder-store.ts';
import { isKey, type ObjectStore } from './object-store.ts';
import type { S3Timing } from './s3-request.ts';
import { S3Store } from './s3-store.ts';

export interface StoreSettings {
  /** Region, endpoint and credentials of S3 come from it. */
  readonly environment: Environment;
  /** Makes the path of a folder absolute. Left out: relative to the working directory. */
  readonly resolvePath?: (path: string) => string;
  /** Timeouts and retries of requests to S3. Left out: many retries. */
  readonly timing?: S3Timing;
}

/** A name with a colon. A single letter is a drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/iu;

/** Without what may hold a credential: a user and a password, and parameters. S3 takes them from the environment. */
const quoted = (url: string): string => JSON.stringify(url.replace(/^([^:]*:).*@/su, '$1…').replace(/\?.*$/su, '…'));

/** Connects with the first call. Throws a `UserError` when the URL names no store. */
export function openStore(url: string, settings: StoreSettings): ObjectStore {
  const { resolvePath = resolve } = settings;
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (url !== '' && scheme === undefined) return new FolderStore(resolvePath(url));
  if (scheme === 'file') return new FolderStore(pathOf(url));
  if (scheme === 's3') return bucketOf(url, settings);
  throw new UserError(`${quoted(url)} names no object store`, 'Write a folder, or s3://bucket/prefix.');
}

function pathOf(url: string): string {
  try {
    return resolve(fileURLToPath(url));
  } catch {
    throw new UserError(`${quoted(url)} is not the URL of a folder`, 'Write file:///path/of/the/folder.');
  }
}

function bucketOf(url: string, { environment, timing }: StoreSettings): ObjectStore {
  const [, bucket = '', rest = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/u.exec(url) ?? [];
  const prefix = rest.replace(/\/$/u, '');
  if (bucket === '' || (prefix !== '' && !isKey(prefix))) {
    throw new UserError(`${quoted(url)} names no bucket`, 'Write s3://bucket or s3://bucket/prefix.');
  }
  for (const name of ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL']) {
    const endpoint = environment[name];
    if (endpoint && !/^https?:\/\/[^/@]+(?:\/[^?#]*)?$/u.test(endpoint)) {
      throw new UserError(`${name} is not the URL of an endpoint`, 'Write https://host or http://host:port.');
    }
  }
  const options = { bucket, prefix: prefix === '' ? '' : `${prefix}/`, environment };
  return new S3Store(timing === undefined ? options : { ...options, timing });
}
