import t from 'tap';
import { editDistance, nearest } from '../../src/component/nearest.ts';

t.test('a typing error is found', async (t) => {
  const known = ['endpoint', 'environment', 'max_size', 'warn', 'traces'];
  const slips = {
    endpont: 'endpoint',
    enpdoint: 'endpoint',
    Endpoint: 'endpoint',
    'max-size': 'max_size',
    warning: 'warn',
    trace: 'traces',
  };
  for (const [slip, meant] of Object.entries(slips)) t.equal(nearest(slip, known), meant, slip);
});

t.test('of names that are equally near, the first is named', async (t) => {
  t.equal(nearest('trace_c', ['trace_a', 'trace_b']), 'trace_a');
});

t.test('a name that is far from all known names has no nearest name', async (t) => {
  t.equal(nearest('zzz', ['endpoint', 'auth']), null);
  t.equal(nearest('x'.repeat(1_000), ['x']), null);
});

t.test('a transposition counts as one step', async (t) => {
  t.equal(editDistance('otpl', 'otlp'), 1);
  t.equal(editDistance('', 'abc'), 3);
  t.equal(editDistance('same', 'same'), 0);
});
