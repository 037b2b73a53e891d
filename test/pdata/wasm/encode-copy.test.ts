/** Compares the two encoders: for every request, the tuples of COPY BINARY have the values of the NDJSON lines. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { ENCODING_PROTOBUF, SIGNAL_METRICS } from '../../../src/pdata/layout.ts';
import { requests } from '../../support/generators.ts';
import { Oracle } from '../../support/oracle.ts';
import { encodeProtobuf, loadProtos, SIGNAL_NAMES, SIGNALS } from '../../support/protos.ts';
import { COLUMNS, type Line, TestTables } from '../../support/tables.ts';

const RUNS = 150;
const tables = new TestTables();
const protos = loadProtos();
const oracle = new Oracle(protos);

/** The first column whose value differs between a tuple and its line; null when there is none. */
function difference(line: Line, tuple: Readonly<Record<string, unknown>>): string | null {
  for (const [name, value] of Object.entries(tuple)) {
    const shown = name === 'value_int' || name === 'value_double' ? line['value'] : line[name];
    if (name.startsWith('value_') && value === null) continue;
    const same = name === 'value_int' ? String(value) === String(shown) : isDeepStrictEqual(value, shown);
    if (!same && !(name === 'value_int' && Number(value) === shown)) {
      return `${name}: ${JSON.stringify(value)} instead of ${JSON.stringify(shown)}`;
    }
  }
  return null;
}

for (const signal of SIGNALS) {
  t.test(`${SIGNAL_NAMES[signal]} have the same values as tuples and as lines`, async (t) => {
    let compared = 0;
    fc.assert(
      fc.property(requests(signal), (message) => {
        const verdict = oracle.judge(signal, ENCODING_PROTOBUF, encodeProtobuf(protos.requests[signal], message));
        if (!verdict.accepted || verdict.records === 0) return;
        const batch = tables.batch(signal, message);
        if (batch.recordCount === 0) return;
        const lines = tables.lines(batch);
        const tuples = tables.tuples(batch);
        if (tuples.length !== lines.length) throw new Error(`${tuples.length} tuples, ${lines.length} lines`);
        for (const [index, line] of lines.entries()) {
          const found = difference(line, tuples[index] ?? {});
          if (found !== null) throw new Error(found);
          compared++;
        }
      }),
      { numRuns: RUNS },
    );
    t.ok(compared > 0, 'records were compared');
  });
}

t.test('a line has the columns in their order, a signal first', async (t) => {
  for (const signal of SIGNALS) {
    const message = fc
      .sample(requests(signal), { numRuns: 200, seed: 7 })
      .find((message) => oracle.rows(signal, message).length > 0);
    if (message === undefined) throw new Error('no request has a record');
    const [line] = tables.lines(tables.batch(signal, message));
    const names = COLUMNS[SIGNAL_NAMES[signal]].map(({ name }) => name);
    const expected =
      signal === SIGNAL_METRICS
        ? names.flatMap((name) => (name === 'value_int' ? ['value'] : name === 'value_double' ? [] : [name]))
        : names;
    t.same(Object.keys(line ?? {}), ['signal', ...expected]);
  }
});
