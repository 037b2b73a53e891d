/**
 * The user's rules on how a sender counts cached tokens decide before the numbers and the tables.
 */
import t from 'tap';
import { Capabilities } from '../../../src/component/capabilities/capability.ts';
import type { Host } from '../../../src/component/component.ts';
import { pricing } from '../../../src/processors/pricing/pricing.ts';
import { Normalized, type Row } from './normalized.ts';

const CALL = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.usage.input_tokens': 100n,
  'gen_ai.usage.output_tokens': 10n,
  'gen_ai.usage.cache_read.input_tokens': 60n,
};

/** A processor beside a `pricing` with these rules, wired as the service does it. */
function beside(rules: readonly object[]): Normalized {
  const capabilities = new Capabilities();
  const meter = { counter: () => ({ add: () => undefined }), gauge: () => undefined };
  pricing.create({ inclusive_rules: rules } as never, { capabilities, meter, id: 'pricing' } as unknown as Host);
  return new Normalized(capabilities);
}
const tokens = (row: Row): unknown[] => [row['input_tokens'], row['total_tokens']];

t.test('without a rule, the input of a sender with the standard names includes cached tokens', async (t) => {
  t.strictSame(tokens(new Normalized().span(CALL, { scope: 'acme' })), [100, 110]);
});

t.test('a rule for a scope changes that for this scope only', async (t) => {
  const normalized = beside([{ scope: 'acme', inclusive: false }]);
  t.strictSame(tokens(normalized.span(CALL, { scope: 'acme' })), [160, 170]);
  t.strictSame(tokens(normalized.span(CALL, { scope: 'other' })), [100, 110]);
});

t.test('a rule for a provider applies in any scope, also to an unknown provider', async (t) => {
  const normalized = beside([{ provider: 'Own_Cloud', inclusive: false }]);
  t.strictSame(tokens(normalized.span({ ...CALL, 'gen_ai.provider.name': 'own-cloud' })), [160, 170]);
  t.strictSame(tokens(normalized.span(CALL)), [100, 110]);
});

t.test('a rule decides before the arithmetic: more cached than input tokens would prove the opposite', async (t) => {
  const call = { ...CALL, 'gen_ai.usage.input_tokens': 50n };
  t.equal(new Normalized().span(call)['input_tokens'], 110);
  t.equal(beside([{ provider: 'openai', inclusive: true }]).span(call)['input_tokens'], 50);
});
