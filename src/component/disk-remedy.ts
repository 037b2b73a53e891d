/** What the operator can do about a failed operation on a file, by the code of the system's error. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'Free some disk space, or inodes.',
  EDQUOT: 'Raise the disk quota of the user, or remove other files.',
  EFBIG: 'Raise the limit of the file size (ulimit -f).',
  EROFS: 'Check the disk, and mount its file system writable again.',
  EIO: 'Check the disk.',
  EACCES: 'Give the user of this process the right to read and write the file and its folder.',
  EPERM: 'Give the user of this process the right to read and write the file and its folder.',
  ENOENT: 'Make the folder of the file again, or mount its file system.',
  EMFILE: 'Raise the limit of open files (ulimit -n, LimitNOFILE of systemd).',
  ENFILE: 'Raise the limit of open files of the system (fs.file-max).',
};

/** `error`: the system's error, or one with it as its cause. */
export function diskRemedy(error: unknown): string | undefined {
  const { code = '', cause } = Object(error) as NodeJS.ErrnoException;
  return REMEDIES[code] ?? (cause === undefined ? undefined : diskRemedy(cause));
}
