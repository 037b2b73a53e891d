/** What the operator can do about a failed operation on the file. */
import { diskRemedy } from '../../component/disk-remedy.ts';
import { errorCode } from '../../errors.ts';

export const remedyFor = (error: unknown): string | undefined =>
  errorCode(error) === 'EFBIG'
    ? 'Raise the limit of the file size (ulimit -f), or lower rotation.max_size.'
    : diskRemedy(error);
