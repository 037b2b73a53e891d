/** A name or id of white space only is no name: its column gets the next attribute for it, or stays empty. */
import t from 'tap';
import { DIALECTS } from '../../../src/dialects/families.ts';
import type { Source } from '../../../src/dialects/dialect.ts';
import { DERIVED_COLUMNS } from '../../../src/pdata/columns.ts';
import { CONTENT_COLUMNS } from '../../../src/pdata/content-columns.ts';
import { Normalized, type PlainValue, type Row } from './normalized.ts';

const BLANKS = [' ', '   ', '\t', '\r\n ', '\u00a0', '\u2003', '\u3000', '\ufeff', ' '.repeat(40)];
/** Columns of texts that people or models wrote, which are stored as they are. */
const CONTENT: ReadonlySet<string> = new Set(CONTENT_COLUMNS);
const NAMES = {
  'gen_ai.operation.name': 'operation',
  'gen_ai.provider.name': 'provider',
  'gen_ai.request.model': 'request_model',
  'gen_ai.response.model': 'response_model',
  'gen_ai.response.id': 'response_id',
  'gen_ai.conversation.id': 'conversation_id',
  'gen_ai.agent.name': 'agent_name',
  'gen_ai.tool.name': 'tool_name',
  'gen_ai.tool.call.id': 'tool_call_id',
  'user.id': 'user_id',
  'error.type': 'error_type',
} as const;

const normalized = new Normalized();
const attributeOf = (source: Source): string => (typeof source === 'string' ? source : source.attribute);
const blanksIn = (row: Row | undefined): readonly string[] =>
  DERIVED_COLUMNS.filter(({ name }) => {
    const value = row?.[name];
    const texts = Array.isArray(value) ? value : [value];
    return !CONTENT.has(name) && texts.some((text) => typeof text === 'string' && text.trim() === '');
  }).map(({ name }) => name);

t.test('blank names fill no column, in both encodings', async (t) => {
  for (const blank of BLANKS) {
    const attributes = { ...Object.fromEntries(Object.keys(NAMES).map((key) => [key, blank])), 'gen_ai.x': 1n };
    for (const [row] of [
      normalized.plain('traces', [{ attributes }]),
      normalized.viaProtobuf('traces', [{ attributes }]),
      normalized.plain('logs', [{ attributes, name: 'e' }]),
    ]) {
      t.equal(row?.['dialect'], 'otel', 'the record is recognized');
      // The operation is what the keys suggest.
      for (const column of Object.values(NAMES).filter((name) => name !== 'operation'))
        t.equal(row?.[column], null, `${column} ${JSON.stringify(blank)}`);
      t.same(blanksIn(row), []);
    }
  }
});

t.test('the next attribute for the column is used', async (t) => {
  const row = normalized.span({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': ' ',
    'gen_ai.system': 'openai',
    'gen_ai.conversation.id': '\t',
    'session.id': 's1',
    'user.id': '  ',
    'enduser.id': 'u1',
  });
  t.match(row, { provider: 'openai', conversation_id: 's1', user_id: 'u1' });
});

t.test('a name with white space around it, or in a script that is not Latin, stays as it was sent', async (t) => {
  for (const name of [' u1 ', '\u00e9l\u00e8ve', '\u3000\u6771', '\u2014', '\\'])
    t.equal(normalized.span({ 'gen_ai.operation.name': 'chat', 'user.id': name })['user_id'], name);
});

t.test('no attribute of any dialect fills a column with white space', async (t) => {
  for (const { id, fields = {}, scopes = [] } of DIALECTS) {
    const attributes = Object.values(fields).flatMap((sources) => sources.map(attributeOf));
    const scope = scopes[0]?.replace('*', 'x') ?? 'test';
    for (const attribute of new Set(attributes)) {
      const name = attribute.replaceAll('*', '0');
      const values: readonly PlainValue[] = [' ', [' '], JSON.stringify({ name: ' ', model: ' ', id: ' ' })];
      for (const value of values) {
        const row = normalized.span({ 'gen_ai.operation.name': 'chat', [name]: value }, { scope });
        t.same(blanksIn(row), [], `${id}: ${name}`);
      }
    }
  }
});

t.test('a span name of white space names no tool', async (t) => {
  for (const { operations = {}, scopes = [] } of DIALECTS.filter(({ namedBySpan }) => namedBySpan !== undefined)) {
    const scope = scopes[0]?.replace('*', 'x') ?? 'test';
    for (const [attribute, words] of Object.entries(operations)) {
      for (const word of Object.keys(words)) {
        const row = normalized.span({ [attribute]: word.replaceAll('*', 'x') }, { name: ' ', scope });
        t.same(blanksIn(row), [], `${scope}: ${attribute}=${word}`);
      }
    }
  }
});
