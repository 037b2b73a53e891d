/** docs/errors.md agrees with the catalogue of refusals. */
import t from 'tap';
import { REFUSALS, type RefusalCode } from '../../src/errors.ts';
import { bare, read, tableIn } from './markdown.ts';

const rows = tableIn(read('docs/errors.md'));

t.test('the table has exactly the codes of the catalogue, in the same order', async (t) => {
  t.same(
    rows.map(([code]) => bare(code)),
    Object.keys(REFUSALS),
  );
});

t.test('status, gRPC code, retry and message equal those that clients get', async (t) => {
  for (const [code, status, grpc, again, message, when] of rows) {
    const refusal = REFUSALS[bare(code) as RefusalCode];
    t.same(
      { status: Number(status), grpc: Number(grpc), retryable: again === 'yes', message },
      { ...refusal },
      bare(code),
    );
    t.not(when, '', `${bare(code)} says when it happens`);
  }
});
