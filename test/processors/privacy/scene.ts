/**
 * A privacy processor over real tables: takes plain messages in both encodings and returns the stored bytes.
 */
import { processAtOnce } from '../../support/process-at-once.ts';
import { Capabilities } from '../../../src/component/capabilities/capability.ts';
import type { Host } from '../../../src/component/component.ts';
import type { Processor } from '../../../src/component/processor.ts';
import type { Batch } from '../../../src/pdata/batch.ts';
import type { Project } from '../../../src/pdata/context.ts';
import { environment } from '../../../src/processors/environment/environment.ts';
import { privacy, type PrivacyOptions } from '../../../src/processors/privacy/privacy.ts';
import type { Message, Signal } from '../../support/protos.ts';
import { TestTables } from '../../support/tables.ts';

export const ENCODINGS = ['protobuf', 'json'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export const START = '1763720000000000000';
const TRACE_ID = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
const SPAN_ID = 'a1b2c3d4e5f60718';

export const aProject = (stored: Project['privacy'] = new Map()): Project => ({
  name: 'demo',
  plan: 'paid',
  monthlySpans: null,
  privacy: stored,
});

export class Scene {
  readonly tables = new TestTables();
  readonly counts = new Map<string, number>();
  readonly host: Host;

  constructor() {
    const counts = this.counts;
    const counter = {
      add: (value: number, labels?: Readonly<Record<string, string>>): void => {
        const rule = labels?.['rule'] ?? '';
        counts.set(rule, (counts.get(rule) ?? 0) + value);
      },
    };
    const meter = { counter: () => counter, histogram: () => ({ record: () => {} }), gauge: () => {} };
    this.host = { id: 'privacy', meter, capabilities: new Capabilities(), process } as unknown as Host;
  }

  processor(options: Partial<PrivacyOptions> = {}): Processor {
    const all = { capture_content: true, environments: {}, redact: [], ...options };
    const processor = privacy.create(all, this.host);
    processor.prepare?.(this.tables.intake.tables);
    return processor;
  }

  /** Indexes a message whose ids are hex, finds its environments, and lets the processor work on it. */
  process(processor: Processor, signal: Signal, message: object, encoding: Encoding, project = aProject()): Batch {
    return this.processBody(
      processor,
      signal,
      encoding === 'json' ? { json: JSON.stringify(message) } : (withBytes(message) as Message),
      project,
    );
  }

  processBody(processor: Processor, signal: Signal, body: Message | { json: string }, project = aProject()): Batch {
    const batch = this.tables.batch(signal, body);
    batch.context.credential = { project, environment: null, keyId: 'static:0' };
    processAtOnce(environment.create({ default: 'default' }, this.host), batch);
    processAtOnce(processor, batch);
    return batch;
  }

  /** All stored bytes, as NDJSON and as COPY rows. */
  stored(batch: Batch): string {
    return `${this.tables.text(batch)}\n${this.tables.copyBytes(batch).toString('utf8')}`;
  }
}

const IDS = new Set(['traceId', 'spanId', 'parentSpanId']);

/** The same message with its ids as bytes, for the protobuf encoder. */
function withBytes(value: unknown, key = ''): unknown {
  if (IDS.has(key)) return Buffer.from(String(value), 'hex');
  if (Array.isArray(value)) return value.map((item) => withBytes(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBytes(inner, name)]));
}

export interface Attribute {
  readonly key: string;
  readonly value: object;
}
export const text = (key: string, value: string): Attribute => ({ key, value: { stringValue: value } });

export interface Shared {
  readonly resource?: readonly Attribute[];
  readonly scope?: object;
}

export const spans = (span: object, { resource = [], scope = { name: 'tests' } }: Shared = {}): object => ({
  resourceSpans: [
    {
      resource: { attributes: resource },
      scopeSpans: [
        { scope, spans: [{ traceId: TRACE_ID, spanId: SPAN_ID, name: 'work', startTimeUnixNano: START, ...span }] },
      ],
    },
  ],
});

export const logs = (record: object, { resource = [], scope = { name: 'tests' } }: Shared = {}): object => ({
  resourceLogs: [
    { resource: { attributes: resource }, scopeLogs: [{ scope, logRecords: [{ timeUnixNano: START, ...record }] }] },
  ],
});

export const metrics = (metric: object, { resource = [], scope = { name: 'tests' } }: Shared = {}): object => ({
  resourceMetrics: [{ resource: { attributes: resource }, scopeMetrics: [{ scope, metrics: [metric] }] }],
});
