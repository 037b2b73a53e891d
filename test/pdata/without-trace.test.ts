/** Requests without one trace: other records keep every byte, whatever fields they have. */
import fc from 'fast-check';
import t from 'tap';
import { tracesProtobuf } from '../../src/pdata/otlp-protobuf.ts';
import { withoutTrace } from '../../src/pdata/without-trace.ts';
import { cases } from '../support/long.ts';
import { aSpan } from '../support/payloads.ts';

const [GONE, KEPT] = ['ab'.repeat(16), 'cd'.repeat(16)];
const bodyOf = (resources: readonly (readonly (readonly object[])[])[]): Buffer =>
  Buffer.from(
    tracesProtobuf(
      JSON.stringify({
        resourceSpans: resources.map((scopes) => ({
          resource: { attributes: [] },
          scopeSpans: scopes.map((spans) => ({ scope: { name: 'test' }, spans })),
        })),
      }),
    ),
  );

const span = fc.record({ isGone: fc.boolean(), name: fc.string() });
const request = fc.array(fc.array(fc.array(span, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 3,
});

t.test('what is left has the bytes of a request that never had the trace', async (t) => {
  fc.assert(
    fc.property(request, (sketch) => {
      const resources = sketch.map((scopes) =>
        scopes.map((spans) => spans.map(({ isGone, name }) => aSpan({ traceId: isGone ? GONE : KEPT, name }))),
      );
      const left = resources
        .map((scopes) => scopes.map((spans) => spans.filter((each) => !('traceId' in each && each.traceId === GONE))))
        .map((scopes) => scopes.filter((spans) => spans.length > 0))
        .filter((scopes) => scopes.length > 0);
      const count = left.flat(2).length;
      const found = withoutTrace(bodyOf(resources), 'traces', Buffer.from(GONE, 'hex'));
      const expected = count === 0 ? null : bodyOf(left);
      return (
        found.records === count &&
        found.removed === resources.flat(2).length - count &&
        (expected === null ? found.body === null : found.body?.equals(expected) === true)
      );
    }),
    { numRuns: cases(2000) },
  );
  t.pass();
});

t.test('damaged bytes are refused or shortened, and nothing hangs', async (t) => {
  const whole = bodyOf([[[aSpan({ traceId: GONE }), aSpan({ traceId: KEPT })]]]);
  for (let length = 1; length < whole.length; length++)
    t.throws(() => withoutTrace(whole.subarray(0, length), 'traces', Buffer.from(GONE, 'hex')));
});
