/** Errors of the system or of PostgreSQL during the start, as messages for the operator. */
import { EmbeddedServerError } from './host-process.ts';
import { errorCode } from '../../../errors.ts';

/** The remedy, by the code of the failed system call. */
const BY_CODE: Readonly<Record<string, string>> = {
  ENOSPC: 'there is no space left on this disk: free some, or choose a data_dir on another disk',
  EDQUOT: "the user's disk quota is used up: free some space, or choose another data_dir",
  EROFS: 'the file system is read-only: mount it for writing, or choose another data_dir',
  EACCES: 'this process has no permission: start it as the owner of data_dir, or choose another data_dir',
  EPERM: 'this process has no permission: start it as the owner of data_dir, or choose another data_dir',
  EMFILE: 'too few files may be open: raise the limit (`ulimit -n 4096`, LimitNOFILE of systemd)',
  ENFILE: 'the machine has too many files open: raise fs.file-max',
  EIO: 'the disk reports an error: read the log of the system first',
  ESTALE: 'the network file system was mounted again: restart with a fresh mount',
  ENOTDIR: 'a part of the path is a file: choose another data_dir',
  ELOOP: 'the path is a circle of links, or a link where none may be: choose another data_dir',
  ENAMETOOLONG: 'the path is too long: choose a shorter data_dir',
  EAGAIN: 'too many processes run: raise the limit (`ulimit -u`, TasksMax of systemd, pids of the container)',
  ENOMEM: 'there is not enough memory: free some, or lower shared_buffers in postgresql.conf',
};

/** Messages of PostgreSQL and its programs, with the system code of each. */
const BY_WORDS: readonly (readonly [RegExp, string])[] = [
  [/No space left on device|Disk quota exceeded/, 'ENOSPC'],
  [/Read-only file system/, 'EROFS'],
  [/Permission denied/, 'EACCES'],
  [/Too many open files|insufficient file descriptors/, 'EMFILE'],
  [/Resource temporarily unavailable/, 'EAGAIN'],
  [/Cannot allocate memory/, 'ENOMEM'],
  [/Input\/output error/, 'EIO'],
];

/** Translates faults of the environment; returns other errors unchanged. */
export function asOperatorError(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof EmbeddedServerError) {
    const hint = hintFor(error.message);
    return hint === undefined || error.message.includes(hint)
      ? error
      : new EmbeddedServerError(`${error.message} (${hint})`, { cause: error });
  }
  const code = errorCode(error);
  const isSystemCall = 'syscall' in error;
  const isPostgres = 'severity' in error;
  if (!isSystemCall && !isPostgres) return error;
  const hint = (isSystemCall ? BY_CODE[code] : undefined) ?? hintFor(error.message);
  return new EmbeddedServerError(
    `the embedded PostgreSQL in ${dataDir} cannot start: ${error.message}${hint === undefined ? '' : ` (${hint})`}`,
    { cause: error },
  );
}

function hintFor(text: string): string | undefined {
  const found = BY_WORDS.find(([words]) => words.test(text));
  return found === undefined ? undefined : BY_CODE[found[1]];
}
