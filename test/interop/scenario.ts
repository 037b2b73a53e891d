/**
 * The scenario that every sender in this folder sends, as expected rows. Times that only the SDK knows are left out.
 */
import type { RecordKind } from '../support/sdk-comparison.ts';
import type { ExpectedRow } from '../support/sdk-rows.ts';

/** The output of a sender: the ids that its SDK generated. */
export interface Ids {
  readonly trace: string;
  readonly root: string;
  readonly child: string;
}

export const ENVIRONMENT = 'Staging';
export const SCOPE = 'interop';

export function expectedRows(service: string, ids: Ids): Readonly<Record<RecordKind, readonly ExpectedRow[]>> {
  const place = { environment: 'staging', service_name: service, scope_name: SCOPE, scope_version: '1.2.3' };
  return { span: spans(place, ids), log: [log(place, ids)], metric: metrics(place) };
}

function spans(place: ExpectedRow, ids: Ids): readonly ExpectedRow[] {
  const counts = { dropped_attributes_count: 0, dropped_events_count: 0, dropped_links_count: 0 };
  const common = { signal: 'span', ...place, ...counts, trace_id: ids.trace, trace_state: null };
  const root = {
    ...common,
    span_id: ids.root,
    parent_span_id: null,
    name: 'chat gpt-5',
    kind: 'client',
    status: 'ok',
    status_message: null,
    start_time_unix_nano: '1763720000123456789',
    end_time_unix_nano: '1763720001987654321',
    duration_ns: '1864197532',
    events: [],
    links: [],
    attributes: {
      'gen_ai.request.model': 'gpt-5',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.request.temperature': 0.7,
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['stop', 'length'],
      numbers: [1, 2, 3],
      text: 'naïve ☃ 🎿 "quoted" \\ \n',
      negative: -9007199254740991,
    },
  };
  const child = {
    ...common,
    span_id: ids.child,
    parent_span_id: ids.root,
    name: 'fails',
    kind: 'internal',
    status: 'error',
    status_message: 'gave up',
    start_time_unix_nano: '1763720000200000000',
    end_time_unix_nano: '1763720000300000000',
    duration_ns: '100000000',
    events: [{ name: 'retry', time_unix_nano: '1763720000250000000', attributes: { attempt: 2 } }],
    links: [{ trace_id: ids.trace, span_id: ids.root, attributes: { why: 'batch' } }],
    attributes: { depth: 1 },
  };
  return [root, child];
}

function log(place: ExpectedRow, ids: Ids): ExpectedRow {
  return {
    signal: 'log',
    ...place,
    time_unix_nano: '1763720000500000000',
    severity_number: 13,
    severity_text: 'WARN',
    event_name: 'gen_ai.user.message',
    body: 'plain text ☃',
    trace_id: ids.trace,
    span_id: ids.root,
    dropped_attributes_count: 0,
    attributes: { attempt: 1 },
  };
}

function metrics(place: ExpectedRow): readonly ExpectedRow[] {
  const empty = {
    description: null,
    unit: null,
    value: null,
    count: null,
    sum: null,
    min: null,
    max: null,
    buckets: null,
  };
  const common = {
    signal: 'metric',
    ...place,
    ...empty,
    quantiles: null,
    temporality: 'cumulative',
    is_monotonic: null,
  };
  const requests = { ...common, name: 'requests', description: 'How many', unit: '1', type: 'sum', is_monotonic: true };
  return [
    { ...requests, attributes: { route: '/a' }, value: 3 },
    { ...requests, attributes: { route: '/b' }, value: 39 },
    { ...common, name: 'open', type: 'sum', is_monotonic: false, attributes: {}, value: -2 },
    { ...common, name: 'temperature', unit: 'Cel', type: 'gauge', temporality: null, attributes: {}, value: 21.5 },
    {
      ...common,
      name: 'latency',
      unit: 'ms',
      type: 'histogram',
      attributes: { model: 'gpt-5' },
      count: 4,
      sum: 555.5,
      min: 0.5,
      max: 500,
      buckets: { explicit_bounds: [1, 10, 100], bucket_counts: ['1', '1', '1', '1'] },
    },
  ];
}
