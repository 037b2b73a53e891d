/** Values, keys and events of the size of a body are handled in steps, and keys of any length are redacted. */
import t from 'tap';
import type { Processor } from '../../../src/component/processor.ts';
import type { Batch } from '../../../src/pdata/batch.ts';
import { SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import { PRESET_NAMES } from '../../../src/processors/privacy/redaction/presets.ts';
import { type Attribute, aProject, Scene, spans, START, text } from './scene.ts';

const scene = new Scene();
const redacting = scene.processor({ redact: PRESET_NAMES.map((preset) => ({ preset })) });
const silent = scene.processor({ capture_content: false });

const SECRET = 'glpat-abcdefghij1234567890';
const MIB = 1048576;
/** Longer keys are on no list. */
const LONG = 2000;

function batchOf(span: object): Batch {
  const batch = scene.tables.batch(SIGNAL_TRACES, { json: JSON.stringify(spans(span)) });
  batch.context.credential = { project: aProject(), environment: null, keyId: 'static:0' };
  batch.setEnvironment(0, batch.tables.constant('default'));
  return batch;
}

/** The number of steps of the processor over a span, and the stored bytes. */
function run(processor: Processor, span: object): { readonly steps: number; readonly stored: string } {
  const batch = batchOf(span);
  let steps = 1;
  for (const _ of processor.process?.(batch) ?? []) steps++;
  return { steps, stored: scene.stored(batch) };
}

const many = (count: number, make: (index: number) => Attribute): readonly Attribute[] =>
  Array.from({ length: count }, (_, index) => make(index));

t.test('each nested value is a step', async (t) => {
  const value = { arrayValue: { values: [{ stringValue: `${SECRET} `.repeat(150) }] } };
  const { steps, stored } = run(redacting, { attributes: many(500, (index) => ({ key: `k${index}`, value })) });
  t.ok(steps >= 500, `${steps} steps`);
  t.notOk(stored.includes(SECRET));
});

t.test('a key of a MiB is redacted in steps', async (t) => {
  const { steps, stored } = run(redacting, { attributes: [text(`${SECRET} a@b.com `.repeat(MIB / 36), 'v')] });
  t.ok(steps >= 16, `${steps} steps`);
  t.notOk(stored.includes(SECRET));
  t.ok(stored.includes('[email]'));
});

t.test('each long key is a step, and renamed attributes of one record are several', async (t) => {
  const longKeys = run(redacting, {
    attributes: many(100, (index) => text(`${index}${` ${SECRET}`.repeat(100)}`, 'v')),
  });
  t.ok(longKeys.steps >= 100, `${longKeys.steps} steps`);
  t.notOk(longKeys.stored.includes(SECRET));
  const before = run(redacting, { attributes: [text(SECRET, 'v')] }).steps;
  const renamed = run(redacting, { attributes: many(5120, () => text(SECRET, 'v')) });
  t.ok(renamed.steps >= before + 19, `${renamed.steps} steps`);
});

t.test('events of one span are removed in steps', async (t) => {
  const event = { name: 'gen_ai.user.message', timeUnixNano: START, attributes: [text('content', 'secret words')] };
  const { steps, stored } = run(silent, { events: Array.from({ length: 3200 }, () => event) });
  t.ok(steps >= 100, `${steps} steps`);
  t.notOk(stored.includes('secret words'));
});

t.test('the value of a key that is longer than every name is content', async (t) => {
  t.notOk(run(silent, { attributes: [text('k'.repeat(LONG), 'secret words')] }).stored.includes('secret words'));
  t.ok(run(redacting, { attributes: [text('k'.repeat(LONG), 'open words')] }).stored.includes('open words'));
});

t.test('a long key that begins or ends with the name of a credential is one', async (t) => {
  for (const key of [`http.request.header.authorization.${'x'.repeat(LONG)}`, `${'x'.repeat(LONG)}.authorization`]) {
    const short = key.replace(/x+/u, 'x');
    const isCredential = !run(redacting, { attributes: [text(short, 'open words')] }).stored.includes('open words');
    const { stored } = run(redacting, { attributes: [text(key, 'open words')] });
    t.equal(!stored.includes('open words'), isCredential, short);
  }
});

t.test('names inside a value are searched in steps', async (t) => {
  const of = (value: object): number => run(silent, { attributes: [{ key: 'k', value }] }).steps;
  const keys = { kvlistValue: { values: many(3200, (index) => text(`n${index}`, 'v')) } };
  t.ok(of(keys) >= 180, 'for some keys each');
  const quotes = { arrayValue: { values: [{ stringValue: '"'.repeat(2 * MIB) }] } };
  t.ok(of(quotes) >= 32, 'within a long string');
});
