/**
 * Requests as the group commit receives them: rows that a service encoded once with all processors, in COPY format.
 * Their ids and times are overwritten for each use, so that many different spans need few encodings.
 */
import { randomBytes } from 'node:crypto';
import { defineExporter, type Rows } from '../src/component/exporter.ts';
import type { Claim } from '../src/component/capabilities/ledger.ts';
import { COMPONENTS } from '../src/components.ts';
import { ChunkPool } from '../src/pdata/chunk-pool.ts';
import { TABLE_COLUMNS } from '../src/pdata/columns.ts';
import type { Project } from '../src/pdata/context.ts';
import { encodeRows } from '../src/pdata/encode-rows.ts';
import { claimedTraces } from '../test/support/claimed-traces.ts';
import { startDaemon } from '../test/support/daemon.ts';
import { send } from '../test/support/otlp-client.ts';
import { makeCorpus } from './corpus.ts';

const KEY = 'benchmark-key-0123456789';
const PROCESSORS = 'auth, environment, privacy, normalization, pricing';
const CONFIG = `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors:
  auth: { keys: [ { key: ${KEY}, project: bench } ] }
  environment: {}
  privacy: {}
  normalization: {}
  pricing: {}
exporters: { capture: {} }
service:
  ledger: memory
  telemetry: { metrics: { enabled: false } }
  pipelines: { traces: { receivers: [otlp], processors: [${PROCESSORS}], exporters: [capture] } }
`;
const TRACE_BYTES = 16;
const REPLAY_KEY_BYTES = 33;
const TRACE_COLUMN = columnOf('trace_id');
const SPAN_COLUMN = columnOf('span_id');
const START_COLUMN = columnOf('start_time_unix_nano');
const END_COLUMN = columnOf('end_time_unix_nano');

function columnOf(name: string): number {
  const index = TABLE_COLUMNS.traces.findIndex((column) => column.name === name);
  if (index < 0) throw new Error(`there is no column ${name}`);
  return index;
}

/** The offsets of one row's ids and times, and its trace within the request. */
interface Place {
  readonly trace: number;
  readonly traceAt: number;
  readonly spanAt: number;
  readonly startAt: number;
  readonly endAt: number;
  readonly durationNs: bigint;
}

/** One request that can be stored repeatedly, each time with new ids. */
export class ReadyRequest {
  readonly rows: Rows;
  readonly #bytes: Buffer;
  readonly #places: readonly Place[];
  readonly #traceCount: number;
  #claim: Claim | null = null;

  /** Takes ownership of the bytes. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#places = placesIn(bytes);
    this.#traceCount = Math.max(...this.#places.map(({ trace }) => trace)) + 1;
    this.rows = {
      signal: 'traces',
      count: this.#places.length,
      bytes: bytes.length,
      chunks: [bytes],
      release: () => undefined,
    };
  }

  get claim(): Claim {
    if (this.#claim === null) throw new Error('the request was not renewed');
    return this.#claim;
  }

  /** Sets new span ids, and new trace ids unless given. Every trace begins at a time of `startNs`. */
  renew(project: Project, startNs: () => bigint, traceIds?: readonly Buffer[]): void {
    const traces = Array.from({ length: this.#traceCount }, (_, index) => ({
      id: traceIds?.[index % traceIds.length] ?? randomBytes(TRACE_BYTES),
      startNs: startNs(),
      lastNs: 0n,
    }));
    for (const [index, place] of this.#places.entries()) {
      const trace = traces[place.trace] as (typeof traces)[number];
      const endNs = trace.startNs + place.durationNs;
      trace.id.copy(this.#bytes, place.traceAt);
      this.#bytes.writeDoubleBE(Math.random() + index, place.spanAt);
      this.#bytes.writeBigInt64BE(trace.startNs, place.startAt);
      this.#bytes.writeBigInt64BE(endNs, place.endAt);
      if (endNs > trace.lastNs) trace.lastNs = endNs;
    }
    this.#claim = {
      project,
      signal: 'traces',
      replayKey: randomBytes(REPLAY_KEY_BYTES),
      traces: claimedTraces(
        traces.map(({ id, startNs: firstNs, lastNs }) => {
          return { traceId: id.toString('hex'), project: project.name, environment: 'production', firstNs, lastNs };
        }),
      ),
      spanCount: this.rows.count,
      recordCount: this.rows.count,
    };
  }
}

/** Requests of 64 model calls in 8 traces. Their ids are not renewed yet. */
export async function makeReadyRequests(count: number): Promise<readonly ReadyRequest[]> {
  const encoded = await encodeCorpus();
  return Array.from({ length: count }, (_, index) => {
    return new ReadyRequest(Buffer.from(encoded[index % encoded.length] as Buffer));
  });
}

async function encodeCorpus(): Promise<readonly Buffer[]> {
  const taken: Buffer[] = [];
  const pool = new ChunkPool();
  const capture = defineExporter<object>({
    type: 'capture',
    summary: 'Keeps a copy of the rows.',
    stability: 'development',
    schema: { type: 'object', additionalProperties: false, properties: {} },
    example: '{}',
    requires: ['project', 'environment'],
    signals: ['traces'],
    create: () => ({
      encode: (batch) => encodeRows(batch, 'copy', pool),
      write: async (group) => void taken.push(...group.map(({ chunks }) => Buffer.concat(chunks))),
    }),
  });
  const ends: (() => Promise<void>)[] = [];
  const scope = { teardown: (end: () => Promise<void>) => ends.push(end) };
  const daemon = await startDaemon(scope, { config: CONFIG, definitions: [...COMPONENTS, capture] });
  try {
    for (const { pb } of makeCorpus().genai) {
      const headers = { 'content-type': 'application/x-protobuf' };
      const { status } = await send(daemon.url, { authorization: `Bearer ${KEY}`, headers, body: pb });
      if (status !== 200) throw new Error(`the corpus was answered ${status}`);
    }
  } finally {
    for (const end of ends) await end();
  }
  return taken;
}

function placesIn(bytes: Buffer): readonly Place[] {
  const traces = new Map<string, number>();
  const places: Place[] = [];
  for (let at = 0; at < bytes.length; ) {
    const fields: number[] = [];
    at += 2;
    for (let field = 0; field < TABLE_COLUMNS.traces.length; field++) {
      const length = bytes.readInt32BE(at);
      at += 4;
      fields.push(at);
      at += Math.max(length, 0);
    }
    const [traceAt, spanAt] = [fields[TRACE_COLUMN] as number, fields[SPAN_COLUMN] as number];
    const [startAt, endAt] = [fields[START_COLUMN] as number, fields[END_COLUMN] as number];
    const traceId = bytes.toString('hex', traceAt, traceAt + TRACE_BYTES);
    if (!traces.has(traceId)) traces.set(traceId, traces.size);
    const durationNs = bytes.readBigInt64BE(endAt) - bytes.readBigInt64BE(startAt);
    places.push({ trace: traces.get(traceId) as number, traceAt, spanAt, startAt, endAt, durationNs });
  }
  return places;
}
