/** Values that an earlier processor set are redacted like those of the sender. */
import t from 'tap';
import { COMPONENTS } from '../../../src/components.ts';
import { defineProcessor, setAttribute, setValue } from '../../../src/index.ts';
import { FILE_CONFIG, startDaemon } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

const SECRET = 'write to ada@example.com';

const setter = defineProcessor<object>({
  type: 'setter',
  summary: 'Sets an attribute and changes another.',
  stability: 'development',
  schema: { type: 'object', additionalProperties: false, properties: {} },
  example: '{}',
  requires: [],
  provides: [],
  precedes: ['derived'],
  create: () => ({
    process(batch) {
      setAttribute(batch, ['record', 0], batch.tables.symbol('added'), SECRET);
      for (const rows = batch.recordAttributes(0); rows.next(); )
        if (batch.tables.keyOf(rows.symbol) === 'plain') setValue(batch, rows.row, SECRET);
    },
  }),
});

t.test('values that a processor sets are redacted, also when nothing in the body needs it', async (t) => {
  const config = FILE_CONFIG.replace(
    'environment: {}',
    'environment: {}\n  setter: {}\n  privacy: { redact: [{ preset: email }] }',
  ).replaceAll('[auth, environment]', '[auth, environment, setter, privacy]');
  const daemon = await startDaemon(t, { config, definitions: [...COMPONENTS, setter] });
  const body = aTraceRequest([aSpan({ attributes: { plain: 'nothing' } })]);
  t.equal((await send(daemon.url, { body: JSON.stringify(body) })).status, 200);
  t.match(await daemon.rows(), [{ attributes: { plain: 'write to [email]', added: 'write to [email]' } }]);
  t.notMatch(await daemon.file(), /ada@example/);
});
