import t from 'tap';
import { editDistance, nearest } from '../../src/config/nearest.ts';

t.test('a slip of the finger is found', async (t) => {
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

t.test('what is far from everything has no nearest', async (t) => {
  t.equal(nearest('zzz', ['endpoint', 'auth']), null);
  t.equal(nearest('x'.repeat(1_000), ['x']), null);
});

t.test('neighbours swapped count as one step', async (t) => {
  t.equal(editDistance('otpl', 'otlp'), 1);
  t.equal(editDistance('', 'abc'), 3);
  t.equal(editDistance('same', 'same'), 0);
});
