/**
 * Telemetry of real senders, recorded with marks in every prompt, answer, tool payload and document. Where content is
 * not captured, no mark is stored, with privacy alone and with normalization after it.
 */
import { processAtOnce } from '../../support/process-at-once.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Processor } from '../../../src/component/processor.ts';
import type { Batch } from '../../../src/pdata/batch.ts';
import { Context, type Signal } from '../../../src/pdata/context.ts';
import { normalization } from '../../../src/processors/normalization/normalization.ts';
import { aProject, Scene } from './scene.ts';

const CAPTURES = fileURLToPath(new URL('../../../../test/fixtures/genai/', import.meta.url));
const BODY = /\.(traces|logs|metrics)(?:\.\d+)?\.(pb|json)$/;
/** Messages of errors are stored, and those of the provider have marks too. */
const CONTENT = /CANARY-(?!ERROR)[A-Z]+/;

const scene = new Scene();
const files = readdirSync(CAPTURES, { recursive: true, encoding: 'utf8' }).filter((path) => BODY.test(path));

function indexed(path: string): Batch {
  const [, signal, form] = BODY.exec(path) ?? [];
  const context = new Context({ signal: signal as Signal, transport: 'http', authorization: undefined });
  context.credential = { project: aProject(), environment: null, keyId: 'static:0' };
  const body = readFileSync(`${CAPTURES}${path}`);
  const batch = scene.tables.intake.index(signal as Signal, form === 'json' ? 'json' : 'protobuf', body, context);
  for (let resource = 0; resource < batch.resourceCount; resource++)
    batch.setEnvironment(resource, batch.tables.constant('default'));
  return batch;
}

function storedAfter(path: string, processors: readonly Processor[]): string {
  const batch = indexed(path);
  for (const processor of processors) processAtOnce(processor, batch);
  return scene.stored(batch);
}

t.test('no content of any recorded sender is stored', async (t) => {
  const silent = scene.processor({ capture_content: false });
  const reading = normalization.create({}, scene.host);
  reading.prepare?.(scene.tables.intake.tables);
  let marked = 0;
  for (const path of files) {
    if (CONTENT.test(storedAfter(path, []))) marked++;
    const alone = CONTENT.exec(storedAfter(path, [silent]))?.[0];
    if (alone !== undefined) t.fail(`${path}: ${alone}`);
    const derived = CONTENT.exec(storedAfter(path, [silent, reading]))?.[0];
    if (derived !== undefined) t.fail(`${path} after normalization: ${derived}`);
  }
  t.ok(marked > 100, `${marked} of ${files.length} recordings hold content`);
});

t.test('what events tell about a call besides its content is stored', async (t) => {
  const silent = scene.processor({ capture_content: false });
  const reading = normalization.create({}, scene.host);
  reading.prepare?.(scene.tables.intake.tables);
  const [row = '{}'] = storedAfter('llama-index/cached.traces.pb', [silent, reading]).split('\n');
  t.match(JSON.parse(row), {
    provider: 'openai',
    request_model: 'o4-mini',
    response_model: 'o4-mini-2025-04-16',
    response_id: 'chatcmpl-canary-cached-0',
    input_tokens: 1303,
    finish_reasons: ['stop'],
    input_content: null,
    output_content: null,
  });
});
