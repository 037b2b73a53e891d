/** A database with rows in every table: spans of all ages, large contents, log records, metric points, settings. */
import { send } from './otlp-client.ts';
import { aGauge, aLogRequest, aMetricRequest, aSpan, aTraceRequest, newTraceId, START_NS } from './payloads.ts';
import type { PostgresDaemon } from './postgres-daemon.ts';

const FAR_NS = 4_102_444_800_000_000_000n;
/** Longer than a page, so that it is stored apart from its row. */
const LARGE = 'content '.repeat(5000);

const SETTINGS = `
  INSERT INTO sluice.projects (name, plan, monthly_spans) VALUES ('shop', 'free', 100);
  INSERT INTO sluice.api_keys (public_id, project, hash, label) VALUES ('abc', 'shop', '\\x00ff', 'a "label"');
  INSERT INTO sluice.environments VALUES ('shop', 'production', '{"capture_content": false}');
  INSERT INTO sluice.prices (id, project, entry) VALUES ('llama', 'shop', '{"a": 1}');
  INSERT INTO sluice.outbox (destination, signal, project, records, bytes, body) VALUES
    ('d', 'traces', 'shop', 1, 3, '\\x010203'), ('d', 'logs', 'shop', 1, 1, '\\x00')`;

export async function storeRecords(daemon: PostgresDaemon): Promise<void> {
  const now = BigInt(Date.now()) * 1_000_000n;
  const starts = [1n, START_NS, now - 86_400_000_000_000n, now, now + 86_400_000_000_000n, FAR_NS];
  const spans = starts.map((start) =>
    aSpan({ traceId: newTraceId(), start, attributes: { large: LARGE, text: 'ä\t\n\\N "', count: 7, ratio: 0.1 } }),
  );
  const log = { timeUnixNano: String(now), body: { stringValue: 'ö\\.' }, traceId: newTraceId() };
  const requests = [
    ['/v1/traces', aTraceRequest(spans)],
    ['/v1/logs', aLogRequest([log, { body: { doubleValue: 1e300 } }])],
    ['/v1/metrics', aMetricRequest([aGauge('a', 0.1), aGauge('b', 1e-300)])],
  ] as const;
  for (const [path, body] of requests) {
    const { status } = await send(daemon.url, { path, body: JSON.stringify(body) });
    if (status !== 200) throw new Error(`${path} was answered ${status}`);
  }
  await daemon.query(SETTINGS);
}
