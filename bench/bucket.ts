/** A bucket of a local S3 server (versitygw) over a folder, for the daemons that this process starts. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../test/support/executable.ts';
import { refuseArguments } from './arguments.ts';
import { ServerProcess } from './side-by-side/server-process.ts';

const BUCKET = 'bench';

/** The settings of a daemon that stores objects below this prefix of the bucket. */
export const objectsIn = (prefix: string): readonly string[] => [
  `exporters.objects.to=s3://${BUCKET}/${prefix}`,
  ...['traces', 'logs', 'metrics'].map((signal) => `service.pipelines.${signal}.exporters=[objects]`),
];

/** The server's executable, from the environment. */
export function s3Executable(): string {
  const executable = process.env['SLUICE_S3_SERVER'] ?? '';
  if (executable === '') refuseArguments('set SLUICE_S3_SERVER to the path of versitygw');
  return executable;
}

interface Bucket {
  readonly server: ServerProcess;
  readonly url: string;
}

/** Daemons that are started later find the server by its environment variables. */
export async function startBucket(executable: string, folder: string): Promise<Bucket> {
  await mkdir(join(folder, BUCKET));
  const url = `http://127.0.0.1:${await freePort()}`;
  const [keyId, secret] = ['bench', 'bench-secret'];
  const server = new ServerProcess({
    command: executable,
    args: ['--port', new URL(url).host, 'posix', folder],
    env: { ROOT_ACCESS_KEY: keyId, ROOT_SECRET_KEY: secret },
    cwd: folder,
    isFree: true,
  });
  await server.untilServing(url);
  Object.assign(process.env, { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: keyId, AWS_SECRET_ACCESS_KEY: secret });
  announce(url);
  return { server, url };
}

/** The address of the server for daemons that are started later. */
export function announce(url: string): void {
  process.env['AWS_ENDPOINT_URL'] = url;
}
