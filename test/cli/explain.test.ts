/**
 * `sluice explain`: for every recorded body of a real sender the explanation has the columns that are stored, and each
 * of them comes from where it says. The command reads files of every form.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { FilledColumn } from '../../src/component/capabilities/derivations.ts';
import { Capabilities } from '../../src/component/capabilities/capability.ts';
import type { Host } from '../../src/component/component.ts';
import type { Processor } from '../../src/component/processor.ts';
import { processAtOnce } from '../support/process-at-once.ts';
import { Stages, type ExplainedRecord } from '../../src/cli/explanation/stages.ts';
import { COMPONENTS } from '../../src/components.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ChunkPool } from '../../src/pdata/chunk-pool.ts';
import { DERIVED_COLUMNS } from '../../src/pdata/columns.ts';
import { Context, type Encoding } from '../../src/pdata/context.ts';
import { encodeRows } from '../../src/pdata/encode-rows.ts';
import { Intake } from '../../src/pdata/index-body.ts';
import { environment } from '../../src/processors/environment/environment.ts';
import { normalization } from '../../src/processors/normalization/normalization.ts';
import { pricing } from '../../src/processors/pricing/pricing.ts';
import { privacy } from '../../src/processors/privacy/privacy.ts';
import { ROOT } from '../docs/markdown.ts';
import { jsonBody } from '../processors/normalization/normalized.ts';
import { isLong } from '../support/long.ts';
import { sluice } from '../support/command-line.ts';
import { FILE_CONFIG } from '../support/daemon.ts';

type Row = Readonly<Record<string, unknown>>;

t.setTimeout(300_000);

const CAPTURES = `${ROOT}test/fixtures/genai/`;
const CONFIG = FILE_CONFIG.replace(
  'environment: {}',
  'environment: {}\n  privacy: {}\n  normalization: {}\n  pricing: {}',
)
  .replaceAll('[auth, environment]', '[auth, environment, privacy, normalization, pricing]')
  .replace('{folder}/', '');
const project = { name: 'demo', plan: 'paid', monthlySpans: null, privacy: new Map() } as const;

/** The stages without an observer, as the daemon runs them. */
class Plain {
  readonly #intake = new Intake();
  readonly #pool = new ChunkPool();
  readonly #processors: readonly Processor[];

  private constructor(processors: readonly Processor[]) {
    this.#processors = processors;
  }

  static async open(): Promise<Plain> {
    const nothing = (): void => {};
    const meter = { counter: () => ({ add: nothing }), gauge: nothing, histogram: () => ({ record: nothing }) };
    const host = { id: 'plain', meter, capabilities: new Capabilities(), now: Date.now } as unknown as Host;
    const priced = pricing.create({}, host);
    await priced.start?.();
    return new Plain([
      environment.create({ default: 'default' }, host),
      privacy.create({ capture_content: true, environments: {}, redact: [] }, host),
      normalization.create({}, host),
      priced,
    ]);
  }

  rows(signal: 'traces' | 'logs', encoding: Encoding, body: Uint8Array): readonly Row[] {
    const context = new Context({ signal, transport: 'http', authorization: undefined });
    context.credential = { project, environment: null, keyId: 'static:0' };
    const batch = this.#intake.index(signal, encoding, body, context);
    for (const processor of this.#processors) processAtOnce(processor, batch);
    const rows = encodeRows(batch, 'ndjson', this.#pool);
    const text = Buffer.concat(rows.chunks).toString('utf8').trimEnd();
    rows.release();
    return text.split('\n').map((line) => JSON.parse(line) as Row);
  }
}

/** Columns whose value is the text of their attribute, as it was sent. */
const VERBATIM = new Set([
  'request_model',
  'response_model',
  'response_id',
  'tool_name',
  'tool_call_id',
  'agent_name',
  'conversation_id',
  'user_id',
]);

function faultsOf(record: ExplainedRecord, stored: Row): string[] {
  const faults: string[] = [];
  const filled = new Map<string, FilledColumn>(record.derivation?.filled.map((each) => [each.column, each]) ?? []);
  for (const { name } of DERIVED_COLUMNS) {
    const value = stored[name];
    if (JSON.stringify(value) !== JSON.stringify(record.row[name])) faults.push(`${name}: another value`);
    if (/_cost$|cost_source|price_id/u.test(name)) continue;
    const origin = filled.get(name);
    if (value !== null && origin === undefined) faults.push(`${name}: no origin`);
    if (value === null && origin !== undefined && origin.note === null) faults.push(`${name}: an origin of nothing`);
    if (origin?.isAttribute !== true || origin.path !== null || !VERBATIM.has(name)) continue;
    const sent = (stored['attributes'] as Row)[origin.source];
    if (sent !== undefined && String(sent) !== value && !String(sent).includes(String(value)))
      faults.push(`${name}: ${origin.source} is ${String(sent)}`);
  }
  const hasCost = stored['total_cost'] !== null;
  const { stated = [], price } = record.cost ?? {};
  const total = (price as { totalCost?: string | null } | null)?.totalCost ?? null;
  if (hasCost && stored['cost_source'] === 'derived' && total !== stored['total_cost']) faults.push('another cost');
  if (stored['cost_source'] === 'explicit' && !stated.some(({ reason }) => reason === null))
    faults.push('no stated cost');
  return faults;
}

const folder = t.testdir({ 'sluice.yaml': CONFIG });
const config = await loadConfig({
  files: [join(folder, 'sluice.yaml')],
  definitions: COMPONENTS,
  workingDirectory: folder,
  environment: {},
});
const stages = new Stages({ config, project, prices: [], process, resolvePath: (path) => path });

/** An ordinary run explains one of so many bodies. */
const ORDINARY_STEP = 8;

t.test('the columns of every recorded body are explained, and they are those that are stored', async (t) => {
  const plain = await Plain.open();
  const all = readdirSync(CAPTURES, { recursive: true, encoding: 'utf8' }).sort();
  const bodies = all.filter((_, index) => isLong || index % ORDINARY_STEP === 0);
  let records = 0;
  for (const path of bodies) {
    const [, signal, form] = /\.(traces|logs)(?:\.\d+)?\.(pb|json)$/.exec(path) ?? [];
    if (signal !== 'traces' && signal !== 'logs') continue;
    const bytes = readFileSync(CAPTURES + path);
    const encoding = form === 'json' ? 'json' : 'protobuf';
    const stored = plain.rows(signal, encoding, bytes);
    const explained = await stages.explain({ signal, encoding, bytes });
    t.equal(explained.length, stored.length, path);
    explained.forEach((record, index) => {
      const faults = faultsOf(record, stored[index] ?? {});
      if (faults.length > 0) t.strictSame(faults, [], `${path} ${index}`);
    });
    records += explained.length;
  }
  t.ok(records > (isLong ? 1000 : 100), `${records} records`);
});

const SPAN = {
  name: 'chat gpt-5-mini',
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-5-mini',
    'gen_ai.provider.name': 'openai',
    'gen_ai.usage.input_tokens': 'many',
    'llm.usage.prompt_tokens': 1000n,
    'gen_ai.usage.output_tokens': 50n,
    'gen_ai.usage.cache_read.input_tokens': 400n,
    'gen_ai.output.messages': 'ANSWER',
    'app.ticket': 'T-1',
  },
};
const explain = (...args: string[]) => sluice(['explain', ...args], { folder });

t.test(
  'a body is explained from a file: what filled a column, unused candidates, unread attributes, the cost',
  async (t) => {
    const body = jsonBody('traces', [SPAN]);
    writeFileSync(join(folder, 'body.json'), body);
    writeFileSync(join(folder, 'body.json.gz'), gzipSync(body));
    const { code, out, err } = await explain('body.json');
    t.match({ code, err }, { code: 0, err: '' });
    t.match(out, /dialect \S+, found by/);
    t.match(
      out,
      /input_tokens\s+1000\s+← llm\.usage\.prompt_tokens \[openllmetry\] \(as sent, with the 400 cached tokens\)/,
    );
    t.match(out, /input_tokens\s+gen_ai\.usage\.input_tokens \[otel\]\s+"many" has no whole number/);
    t.match(out, /output_content\s+ANSWER\s+← gen_ai\.output\.messages/);
    t.match(out, /cache_read: 400 tokens x 0\.025 \/ 1,000,000 = 0\.00001/);
    t.match(out, /total_cost 0\.000260/);
    t.match(out, /left over[\s\S]*app\.ticket/);
    t.equal((await explain('body.json.gz')).out, out);
  },
);

t.test('of two usable counts the second is said to come second', async (t) => {
  const attributes = { ...SPAN.attributes, 'gen_ai.usage.input_tokens': 1000n, 'llm.usage.prompt_tokens': 1000n };
  writeFileSync(join(folder, 'twice.json'), jsonBody('traces', [{ ...SPAN, attributes }]));
  const { out } = await explain('twice.json');
  t.match(out, /input_tokens\s+gen_ai\.usage\.input_tokens \[otel\]\s+llm\.usage\.prompt_tokens comes first/);
});

/** What Google's ADK for Java sends: every figure is in a document that becomes content. */
const DOCUMENT = {
  name: 'call_llm',
  attributes: {
    'gcp.vertex.agent.event_id': 'e-1',
    'gcp.vertex.agent.llm_request': '{"model":"gemini-2.5-flash","contents":[]}',
    'gcp.vertex.agent.llm_response':
      '{"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":50,"totalTokenCount":170}}',
  },
};

t.test('a form of a document that the record does not have is no candidate', async (t) => {
  writeFileSync(join(folder, 'document.json'), jsonBody('traces', [DOCUMENT]));
  const { out } = await explain('document.json');
  t.match(out, /input_tokens\s+100\s+← gcp\.vertex\.agent\.llm_response at usageMetadata\.promptTokenCount/);
  t.notMatch(out, /^ {2}lost/m);
  const same = { name: 'chat', attributes: { 'gen_ai.response.id': 'r-1', 'gen_ai.request.model': 'gpt-5-mini' } };
  writeFileSync(join(folder, 'same.json'), jsonBody('traces', [same]));
  t.notMatch((await explain('same.json')).out, /^ {2}lost/m, 'nor the same attribute in the table of another dialect');
});

t.test('of a stored row no attribute is named that the sender may not have sent', async (t) => {
  writeFileSync(join(folder, 'document.json'), jsonBody('traces', [DOCUMENT]));
  const [record] = JSON.parse((await explain('document.json', '--json')).out) as ExplainedRecord[];
  writeFileSync(join(folder, 'rows.ndjson'), `${JSON.stringify(record?.row)}\n`);
  const { out } = await explain('rows.ndjson');
  for (const [column, value] of [
    ['input_tokens', '100'],
    ['total_tokens', '170'],
    ['input_content', '\\{.*'],
  ])
    t.match(out, new RegExp(`${column} +${value} +← the stored column; its attribute is not kept`));
  t.match(out, /category +model_call +← the name of the span/);
  t.notMatch(out, 'gen_ai.usage');
  t.notMatch(out, 'gen_ai.input');
});

t.test('protobuf, rows of the file exporter and --json', async (t) => {
  const [capture = ''] = readdirSync(`${CAPTURES}otel-openai-py`).filter((name) => name.endsWith('.traces.pb'));
  const json = await explain(`${CAPTURES}otel-openai-py/${capture}`, '--json');
  const [first] = JSON.parse(json.out) as ExplainedRecord[];
  t.equal(first?.derivation?.dialect, 'otel');
  const logs = readdirSync(`${CAPTURES}otel-openai-py`).find((name) => name.endsWith('.logs.pb')) ?? '';
  t.match(await explain(`${CAPTURES}otel-openai-py/${logs}`), { code: 0, out: /log record/ });
  writeFileSync(join(folder, 'rows.ndjson'), `${JSON.stringify(first?.row)}\n`);
  const rows = JSON.parse((await explain('rows.ndjson', '--json')).out) as (ExplainedRecord & {
    differences: unknown;
  })[];
  t.strictSame(rows[0]?.differences, []);
  t.strictSame(rows[0]?.row['input_content'], first?.row['input_content']);
});

t.test('the configuration counts: mappings, capture and prices', async (t) => {
  const own = CONFIG.replace(
    'normalization: {}',
    'normalization: { mappings: [{ name: acme, markers: [app.ticket], fields: { user_id: app.ticket, output_content: gen_ai.output.messages } }] }',
  )
    .replace('privacy: {}', 'privacy: { capture_content: false }')
    .replace(
      'pricing: {}',
      'pricing: { overrides: [{ id: own, match: { model: gpt-5-mini }, prices: [{ rates: { input: 1, output: 1 } }] }] }',
    );
  writeFileSync(join(folder, 'own.yaml'), own);
  writeFileSync(join(folder, 'body.json'), jsonBody('traces', [SPAN]));
  const { out } = await explain('body.json', '-c', 'own.yaml');
  t.match(out, /dialect acme, found by the attribute app\.ticket/);
  t.match(out, /user_id\s+T-1\s+← app\.ticket \[acme\]/);
  t.match(out, /output_content\s+null\s+← gen_ai\.output\.messages \[acme\] \(privacy dropped the value/);
  t.match(out, /total_cost 0\.00105000 \(derived\)/);
  t.notMatch(out, 'ANSWER');
});

t.test('what cannot be explained is said with a hint', async (t) => {
  writeFileSync(join(folder, 'bad.json'), '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00"}]}]}]}');
  writeFileSync(join(folder, 'text.txt'), '{"a":1}');
  t.match(await explain('bad.json'), { code: 1, err: /the daemon would refuse this: invalid_id/ });
  t.match(await explain('text.txt'), { code: 1, err: /neither OTLP nor a row/ });
  t.match(await explain('.'), { code: 1, err: /cannot be read: it is a folder\n/u });
  t.match(await explain('nowhere.json'), { code: 2, err: /neither a file nor the id of a trace/ });
  t.match(await explain(), { code: 2 });
});
