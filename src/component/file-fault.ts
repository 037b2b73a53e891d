/** Why an operation on a file failed, in words, by the code of the system's error. */
import { errorCode } from '../errors.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'a file or a broken link has this name',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EIO: 'the disk reports an error',
  EFBIG: 'the file would be larger than this process may write',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links form a circle',
  EPIPE: 'the program that reads it has ended',
};

/** What to do when a file that the caller named cannot be written. */
export const OTHER_PLACE = 'Name a file in a folder with enough space that this user may write to.';

/** Why a file cannot be read or written, without the words of the system call. */
export function fileFault(error: unknown): string {
  return REASONS[errorCode(error)] ?? (error instanceof Error ? error.message : String(error));
}
