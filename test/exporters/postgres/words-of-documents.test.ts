/** Words read from documents are stored, also with characters that JSON of PostgreSQL cannot hold. */
import t from 'tap';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newSpanId } from '../../support/payloads.ts';
import { startPostgresDaemon } from '../../support/postgres-daemon.ts';

/** The word as sent, and as stored. */
const WORDS: readonly (readonly [sent: string, stored: string])[] = [
  ['a\0b', 'a\ufffdb'],
  ['high \ud800 alone', 'high \ufffd alone'],
  ['low at the end \udc00', 'low at the end \ufffd'],
  ['\udc00\ud800', '\ufffd\ufffd'],
  [`${'q'.repeat(127)}\u{1f600}`, `${'q'.repeat(127)}\ufffd`],
  ['pair \u{1f600}', 'pair \u{1f600}'],
];

const SENDERS: Readonly<Record<string, (word: string) => Readonly<Record<string, string>>>> = {
  'output messages': (word) => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [], finish_reason: word }]),
  }),
  'a list in a text': (word) => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.response.finish_reasons': JSON.stringify([word]),
  }),
  'Google ADK': (word) => ({ 'gcp.vertex.agent.llm_response': JSON.stringify({ finish_reason: word }) }),
  Genkit: (word) => ({
    'genkit:metadata:subtype': 'model',
    'genkit:output': JSON.stringify({ finishReason: word, usage: { inputTokens: 5 } }),
  }),
};

t.test('reasons with U+0000, lone surrogates or a divided pair do not refuse the request', async (t) => {
  const daemon = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
  for (const [name, attributes] of Object.entries(SENDERS)) {
    const ids = WORDS.map(() => newSpanId());
    const spans = WORDS.map(([word], index) => aSpan({ spanId: ids[index] ?? '', attributes: attributes(word) }));
    t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest(spans)) })).status, 200, name);
    const rows = await daemon.query(
      'SELECT finish_reasons AS words FROM sluice.spans WHERE encode(span_id, $1) = ANY ($2)',
      ['hex', ids],
    );
    t.same(new Set(rows.map(({ words }) => String(words))), new Set(WORDS.map(([, stored]) => stored)), name);
  }
});
