/** The first claim is kept while the trace is remembered, and owners without traces are removed. */
import t from 'tap';
import { OwnedTraces } from '../../src/pdata/owned-traces.ts';

const traceOf = (number: number): Uint32Array => Uint32Array.of(0, 0, 0, number);

t.test('a trace belongs to the first project, until it is removed for newer traces', async (t) => {
  const traces = new OwnedTraces(3);
  const [one, two] = [
    { project: 'one', environment: 'production' },
    { project: 'two', environment: 'production' },
  ];
  traces.claim(traceOf(1), 0, one);
  traces.claim(traceOf(1), 0, two);
  traces.claim(traceOf(2), 0, two);
  t.strictSame(
    [1, 2, 3].map((number) => traces.ownerOf(traceOf(number), 0)),
    [one, two, undefined],
  );
  traces.claim(traceOf(3), 0, two);
  traces.claim(traceOf(4), 0, two);
  t.strictSame(
    [1, 2, 3, 4].map((number) => traces.ownerOf(traceOf(number), 0)),
    [undefined, two, two, two],
  );
});

t.test('the numbers of owners without traces are reused', async (t) => {
  const traces = new OwnedTraces(5);
  const ownerOf = (number: number) => ({ project: 'project', environment: `environment-${number % 97}` });
  for (let number = 0; number < 1000; number++) {
    traces.claim(traceOf(number), 0, ownerOf(number));
    for (let back = 0; back < 5 && back <= number; back++) {
      t.strictSame(traces.ownerOf(traceOf(number - back), 0), ownerOf(number - back));
    }
    t.equal(traces.ownerOf(traceOf(number - 5 < 0 ? 5000 : number - 5), 0), undefined);
  }
});
