/** The report that no file descriptor is free. */
import t from 'tap';
import { OpenFileWatch } from '../../src/daemon/open-file-watch.ts';

t.test('the start and the end of a lack of file descriptors are reported once', async (t) => {
  const lines: unknown[] = [];
  const write = (level: string) => (fields: object, message: string) => void lines.push({ level, ...fields, message });
  let code = '';
  const watch = new OpenFileWatch({ info: write('info'), error: write('error') }, () => {
    if (code !== '') throw Object.assign(new Error(code), { code });
  });
  const tickWith = (next: string): unknown[] => {
    code = next;
    watch.tick();
    return lines.splice(0);
  };
  t.strictSame(tickWith(''), []);
  t.strictSame(tickWith('EACCES'), [], 'no lack of descriptors');
  t.match(tickWith('EMFILE'), [{ level: 'error', message: /too many files are open/u, fix: /ulimit -n/u }]);
  t.strictSame(tickWith('EMFILE'), []);
  t.match(tickWith(''), [{ level: 'info', message: /can be opened again/u }]);
  t.match(tickWith('ENFILE'), [{ level: 'error', fix: /fs\.file-max/u }]);
});
