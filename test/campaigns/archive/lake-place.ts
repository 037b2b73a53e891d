/** Where the campaign's lake is: a folder, or a bucket of the fake S3 server with its faults. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FakeS3, type S3Fault, startS3 } from '../../support/fake-s3.ts';

export interface LakePlace {
  /** As the configuration names it. */
  readonly to: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The keys of all files, with temporary ones. */
  allFiles(): readonly string[];
  /** A folder that has the files now. */
  folder(): string;
  /** Null: there are none. */
  readonly faults: BucketFaults | null;
}

export interface BucketFaults {
  /** Until `end`: some requests fail, by their probabilities. */
  begin(faults: Readonly<Partial<Record<S3Fault, number>>>): void;
  /** The bucket does not exist. */
  hide(): void;
  /** Returns the number of faults. */
  end(): number;
}

/** More than a run sends. */
const MOST_REQUESTS = 2_000;

export function folderPlace(folder: string): LakePlace {
  const lake = join(folder, 'to');
  const allFiles = (): readonly string[] =>
    existsSync(lake)
      ? readdirSync(lake, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:parquet|tmp)$/u.test(name))
      : [];
  return { to: lake, environment: {}, allFiles, folder: () => lake, faults: null };
}

export async function bucketPlace(t: Parameters<typeof startS3>[0], folder: string): Promise<LakePlace> {
  const fake = await startS3(t);
  const mirror = join(folder, 'mirror');
  const known = new Map<string, unknown>();
  const refresh = (): string => {
    for (const key of known.keys()) if (!fake.objects.has(key)) rmSync(join(mirror, key));
    for (const key of known.keys()) if (!fake.objects.has(key)) known.delete(key);
    for (const [key, stored] of fake.objects) {
      if (known.get(key) === stored) continue;
      mkdirSync(dirname(join(mirror, key)), { recursive: true });
      writeFileSync(join(mirror, key), stored.body);
      known.set(key, stored);
    }
    return mirror;
  };
  return {
    to: `s3://${fake.bucket}`,
    environment: fake.environment,
    allFiles: () => [...fake.objects.keys()],
    folder: refresh,
    faults: faultsOf(fake),
  };
}

function faultsOf(fake: FakeS3): BucketFaults {
  let planned = 0;
  return {
    begin: (faults) => {
      const one = (): S3Fault | null => {
        let rest = Math.random();
        for (const [fault, probability] of Object.entries(faults))
          if ((rest -= probability) < 0) return fault as S3Fault;
        return null;
      };
      fake.faults.push(...Array.from({ length: MOST_REQUESTS }, one));
      planned = countOf(fake);
    },
    hide: () => {
      fake.isGone = true;
    },
    end: () => {
      const met = planned - countOf(fake);
      fake.faults.length = 0;
      fake.isGone = false;
      planned = 0;
      return met;
    },
  };
}

const countOf = ({ faults }: FakeS3): number => faults.filter((fault) => fault !== null).length;
