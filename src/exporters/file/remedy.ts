/** What the operator can do about a failed operation on the file. */
import { diskRemedy } from '../../component/disk-remedy.ts';

export const remedyFor = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException).code === 'EFBIG'
    ? 'Raise the limit of the file size (ulimit -f), or lower rotation.max_size.'
    : diskRemedy(error);
