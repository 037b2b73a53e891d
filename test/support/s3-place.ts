/**
 * An empty place in a bucket: on the S3 server of `SLUICE_TEST_S3_URL` and the variables of AWS, or else on the fake
 * one.
 */
import { randomUUID } from 'node:crypto';
import { startS3 } from './fake-s3.ts';

export interface S3Place {
  /** `s3://bucket/prefix`. */
  readonly url: string;
  /** The variables of AWS. */
  readonly environment: Readonly<Record<string, string>>;
}

export async function openS3Place(t: { teardown(task: () => Promise<void>): unknown }): Promise<S3Place> {
  const real = process.env['SLUICE_TEST_S3_URL'];
  if (real === undefined) {
    const { bucket, environment } = await startS3(t);
    return { url: `s3://${bucket}/prefix`, environment };
  }
  const variables = Object.entries(process.env).flatMap(([name, value = '']) =>
    name.startsWith('AWS_') ? [[name, value] as const] : [],
  );
  return { url: `${real}/${randomUUID()}`, environment: Object.fromEntries(variables) };
}
