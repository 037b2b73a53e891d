/** The first claim is kept while the trace is remembered, and owners without traces are removed. */
import t from 'tap';
import { OwnedTraces } from '../../../src/service/settle/owned-traces.ts';

const traceOf = (number: number): string => number.toString(16).padStart(32, '0');

t.test('a trace belongs to the first project, until it is removed for newer traces', async (t) => {
  const traces = new OwnedTraces(3);
  const [one, two] = [
    { project: 'one', environment: 'production' },
    { project: 'two', environment: 'production' },
  ];
  traces.claim(traceOf(1), one);
  traces.claim(traceOf(1), two);
  traces.claim(traceOf(2), two);
  t.strictSame(
    [1, 2, 3].map((number) => traces.ownerOf(traceOf(number))),
    [one, two, undefined],
  );
  traces.claim(traceOf(3), two);
  traces.claim(traceOf(4), two);
  t.strictSame(
    [1, 2, 3, 4].map((number) => traces.ownerOf(traceOf(number))),
    [undefined, two, two, two],
  );
});

t.test('the numbers of owners without traces are reused', async (t) => {
  const traces = new OwnedTraces(5);
  const ownerOf = (number: number) => ({ project: 'project', environment: `environment-${number % 97}` });
  for (let number = 0; number < 1000; number++) {
    traces.claim(traceOf(number), ownerOf(number));
    for (let back = 0; back < 5 && back <= number; back++) {
      t.strictSame(traces.ownerOf(traceOf(number - back)), ownerOf(number - back));
    }
    t.equal(traces.ownerOf(traceOf(number - 5 < 0 ? 5000 : number - 5)), undefined);
  }
});
