/**
 * The files of the page, read into memory at the start. Requests are answered from this table only; no path of a
 * request reaches the file system.
 */
import { readdir, readFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** From the compiled module and from its source. */
const FOLDERS = ['../../../../web/', '../../../../dist/web/'];
const INDEX = 'index.html';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;
/** Names with a hash of their content. */
const HASHED = /-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/u;
const FOREVER = 'public, max-age=31536000, immutable';
const CHECKED = 'no-cache';
const ETAG_LENGTH = 22;

export interface StaticFile {
  readonly type: string;
  readonly caching: string;
  readonly etag: string;
  /** By content coding; `''` is the file itself. */
  readonly bodies: ReadonlyMap<string, Buffer>;
}

const NOT_BUILT = `<!doctype html><meta charset="utf-8"><title>Sluice</title>
<p>The page of the console is not built. Run <code>npm run build</code>, then restart the daemon.</p>
`;

export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>;
  readonly index: StaticFile;

  constructor(files: ReadonlyMap<string, StaticFile>) {
    this.#files = files;
    this.index = files.get(`/${INDEX}`) ?? fileOf(INDEX, new Map([['', Buffer.from(NOT_BUILT)]]));
  }

  /** Without built files the index says how to build them. */
  static async read(): Promise<StaticFiles> {
    for (const folder of FOLDERS.map(pathOf)) {
      const names = await readdir(folder).catch((): string[] => []);
      if (names.includes(INDEX)) return new StaticFiles(await readFiles(folder, names));
    }
    return new StaticFiles(new Map());
  }

  /** The file of a path; the index only as `index`. */
  find(path: string): StaticFile | undefined {
    return path === `/${INDEX}` ? undefined : this.#files.get(path);
  }
}

const pathOf = (folder: string): string => fileURLToPath(new URL(folder, import.meta.url));

async function readFiles(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, StaticFile>> {
  const files = new Map<string, StaticFile>();
  for (const name of names) {
    if (TYPES[extname(name)] === undefined) continue;
    const bodies = new Map([['', await readFile(join(folder, name))]]);
    for (const [encoding, suffix] of ENCODINGS) {
      if (names.includes(name + suffix)) bodies.set(encoding, await readFile(join(folder, name + suffix)));
    }
    files.set(`/${name}`, fileOf(name, bodies));
  }
  return files;
}

function fileOf(name: string, bodies: ReadonlyMap<string, Buffer>): StaticFile {
  const digest = createHash('sha256')
    .update(bodies.get('') ?? '')
    .digest('base64url');
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    caching: name !== INDEX && HASHED.test(name) ? FOREVER : CHECKED,
    etag: `"${digest.slice(0, ETAG_LENGTH)}"`,
    bodies,
  };
}

/** The first coding of ours that the client accepts. */
export function codingFor(file: StaticFile, accepted: string | undefined): string {
  const names = (accepted ?? '').split(',').map((part) => part.trim().toLowerCase());
  for (const [encoding] of ENCODINGS) {
    const wanted = names.find((name) => name.split(';')[0]?.trim() === encoding);
    if (wanted !== undefined && !/;\s*q=0(?:\.0*)?$/u.test(wanted) && file.bodies.has(encoding)) return encoding;
  }
  return '';
}
