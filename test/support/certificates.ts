/** The certificates of `test/fixtures/tls`, and copies that a test may replace. */
import { cpSync, copyFileSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const TLS_FOLDER = fileURLToPath(new URL('../../../test/fixtures/tls/', import.meta.url));

export const pem = (name: string): Buffer => readFileSync(join(TLS_FOLDER, `${name}.pem`));

/** TLS options of a client: the trusted CA, and with a name its own certificate. */
export const trust = (client?: 'client' | 'stranger' | 'server') => ({
  ca: pem('ca'),
  ...(client === undefined ? {} : { cert: pem(client), key: pem(`${client}-key`) }),
});

/** Copies all of them to another folder. */
export function copyCertificates(folder: string): void {
  cpSync(TLS_FOLDER, folder, { recursive: true });
}

/** Replaces one certificate by another, each file atomically as certificate managers do. */
export function replaceCertificate(folder: string, name: string, by: string): void {
  for (const suffix of ['-key.pem', '.pem']) {
    copyFileSync(join(TLS_FOLDER, `${by}${suffix}`), join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, `${name}${suffix}`));
  }
}
