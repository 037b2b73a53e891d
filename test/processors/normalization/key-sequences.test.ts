/** The cache of key sequences changes no result: a record is read the same after any other records. */
import fc from 'fast-check';
import t from 'tap';
import { DIALECTS } from '../../../src/dialects/families.ts';
import { DERIVED_COLUMNS } from '../../../src/pdata/columns.ts';
import { Normalized, type PlainRecord, type PlainValue, type Row } from './normalized.ts';

const KEYS = [
  ...new Set(
    DIALECTS.flatMap(({ fields, markers, hints }) => [
      ...Object.values(fields ?? {}).flatMap((sources) =>
        sources.map((source) => (typeof source === 'string' ? source : source.attribute)),
      ),
      ...[...(markers ?? []), ...(hints ?? [])].map((sign) => sign.split('=')[0] ?? ''),
    ]),
  ),
].filter((key) => key !== '' && !/[{*(]/.test(key));
const SIGN_VALUES = DIALECTS.flatMap(({ markers, hints }) =>
  [...(markers ?? []), ...(hints ?? [])].flatMap((sign) => sign.split('=')[1] ?? []),
);
const SCOPES = ['test', ...DIALECTS.flatMap(({ scopes }) => scopes ?? []).filter((scope) => !scope.includes('*'))];

const value: fc.Arbitrary<PlainValue> = fc.oneof(
  fc.constantFrom(
    ...SIGN_VALUES,
    'chat',
    'execute_tool',
    'openai',
    'gpt-4o',
    '["stop"]',
    '{"input":3}',
    'REDACTED',
    '',
  ),
  fc.bigInt(0n, 5000n),
  fc.boolean(),
);
const keyList = fc.array(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 12 });
const family = fc.record({ keys: keyList, scope: fc.constantFrom(...SCOPES), hasBody: fc.boolean() });
/** Several records with the keys of one of a few families, each with values of its own. */
const records = fc.array(family, { minLength: 1, maxLength: 3 }).chain((families) =>
  fc.array(
    fc.tuple(fc.constantFrom(...families), fc.array(value, { minLength: 12, maxLength: 12 })).map(
      ([{ keys, scope, hasBody }, values]): PlainRecord => ({
        scope,
        attributes: keys.map((key, index) => [key, values[index] ?? ''] as const),
        ...(hasBody ? { body: values[0] ?? '' } : {}),
      }),
    ),
    { minLength: 3, maxLength: 12 },
  ),
);

const derivedOf = (row: Row): Row => Object.fromEntries(DERIVED_COLUMNS.map(({ name }) => [name, row[name]]));
let strangers = 0;
/** The record with one more key, which is new and has no class, so its key sequence is never cached. */
const estranged = (record: PlainRecord): PlainRecord => ({
  ...record,
  attributes: [[`never.seen.${strangers++ % 2_000}`, true], ...(record.attributes as [string, PlainValue][])],
});

const remembering = new Normalized();
const forgetful = new Normalized();

for (const signal of ['traces', 'logs'] as const) {
  t.test(`${signal}: a record is read the same the first time and the hundredth`, async (t) => {
    fc.assert(
      fc.property(records, (list) => {
        const bare = signal === 'traces' ? list.map(({ body, ...span }) => span) : list;
        const first = remembering.plain(signal, bare).map(derivedOf);
        const again = remembering.plain(signal, bare).map(derivedOf);
        const expected = forgetful.plain(signal, bare.map(estranged)).map(derivedOf);
        t.strictSame(first, expected);
        t.strictSame(again, expected);
        return true;
      }),
      { numRuns: 60 },
    );
  });
}

t.test('keys that live for one request only are never confused with those of another', async (t) => {
  const crowded = new Normalized();
  const many = (from: number, count: number): PlainRecord[] =>
    Array.from({ length: count / 100 }, (_, record) => ({
      attributes: Array.from({ length: 100 }, (_, index) => [`crowd.${from + record * 100 + index}`, 'x'] as const),
    }));
  crowded.plain('traces', many(0, 20_000));
  for (let turn = 0; turn < 3; turn++) {
    const [told] = crowded.plain('traces', [{ attributes: { [`late.${turn}`]: 'x', 'ai.model.id': `m${turn}` } }]);
    t.equal(told?.['dialect'] ?? null, remembering.span({ 'ai.model.id': 'm' })['dialect'] ?? null);
    const [other] = crowded.plain('traces', [{ attributes: { 'ai.other.thing': 'x', [`later.${turn}`]: 'y' } }]);
    t.equal(other?.['request_model'] ?? null, null);
  }
});
