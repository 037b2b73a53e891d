/** What the operator can do about a failed operation on the file, by the code of the system's error. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'Free some disk space, or inodes.',
  EDQUOT: 'Raise the disk quota of the user, or remove other files.',
  EFBIG: 'Raise the limit of the file size (ulimit -f), or lower rotation.max_size.',
  EROFS: 'Check the disk, and mount its file system writable again.',
  EIO: 'Check the disk.',
  EACCES: 'Give the user of the daemon the right to write the file and its folder.',
  EPERM: 'Give the user of the daemon the right to write the file and its folder.',
  ENOENT: 'Make the folder of the file again, or mount its file system.',
  EMFILE: 'Raise the limit of open files (ulimit -n, LimitNOFILE of systemd).',
  ENFILE: 'Raise the limit of open files of the system (fs.file-max).',
};

export const remedyFor = (error: unknown): string | undefined => REMEDIES[(error as NodeJS.ErrnoException).code ?? ''];
