/**
 * Files and objects that are lost or damaged: readers answer without them, and say so. A store that is
 * unavailable, or that refuses everything, is a failure.
 */
import { UserError } from '../../errors.ts';
import { type ObjectStore, StoreError } from '../../object-store/object-store.ts';
import { DamagedPart } from '../compaction/part-lines.ts';

/** A file or object that should be there and cannot be read. */
export interface LeftOut {
  /** The key. */
  readonly name: string;
  readonly reason: string;
  /** None of its records is later, in Unix nanoseconds. */
  readonly untilNs: bigint;
}

/** The bytes of a file are not what was written. */
export class BrokenFile extends Error {}

interface Recorded {
  readonly key: string;
  readonly bytes: number;
}

/** Why a file cannot be read. Throws the error again when it does not come from the file. */
export async function reasonOf(error: unknown, store: ObjectStore, { key, bytes }: Recorded): Promise<string> {
  if (error instanceof StoreError && error.fault === 'denied') return refusalOf(error, store);
  const isOfFile = error instanceof BrokenFile || (error instanceof StoreError && error.fault !== 'unavailable');
  if (!isOfFile) throw error;
  const info = await store.head(key);
  if (info === null) return absenceIn(store);
  if (info.bytes !== bytes) return `it has ${info.bytes} bytes instead of ${bytes}`;
  return `it is damaged: ${error.message}`;
}

/** As `reasonOf`, of a part of an object. */
export async function reasonOfPart(error: unknown, store: ObjectStore): Promise<string> {
  if (error instanceof StoreError && error.fault === 'denied') return refusalOf(error, store);
  if (!(error instanceof DamagedPart)) throw error;
  return error.isAbsent ? absenceIn(store) : error.why;
}

/** An empty store is another one, or a file system that is not mounted. */
async function absenceIn(store: ObjectStore): Promise<string> {
  if (await hasObjects(store)) return 'it does not exist';
  throw new UserError(
    `there is no archive in ${store.url}`,
    'Name the folder or bucket with --lake, mount it, or bring it back.',
  );
}

/** A store that also refuses a list refuses everything. */
async function refusalOf(error: StoreError, store: ObjectStore): Promise<string> {
  await hasObjects(store);
  return error.message;
}

async function hasObjects(store: ObjectStore): Promise<boolean> {
  for await (const _ of store.list('')) return true;
  return false;
}
