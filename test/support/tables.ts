/** Tables that the real indexer fills from plain messages, and the decoded output of both encoders. */
import type { Batch } from '../../src/pdata/batch.ts';
import { ChunkPool } from '../../src/pdata/chunk-pool.ts';
import {
  type Column,
  DERIVED_COLUMNS,
  LOG_COLUMNS,
  METRIC_COLUMNS,
  PLAIN_SPAN_COLUMNS,
  SPAN_COLUMNS,
  TABLE_COLUMNS,
} from '../../src/pdata/columns.ts';
import { Context, SIGNALS as SIGNAL_NAMES, type Signal as SignalName } from '../../src/pdata/context.ts';
import { type EncodedRows, encodeRows } from '../../src/pdata/encode-rows.ts';
import { Intake } from '../../src/pdata/index-body.ts';
import { type CopyTuple, readTuples, resolveTuples } from './copy-tuples.ts';
import { encodeProtobuf, loadProtos, type Message, type Signal } from './protos.ts';

const PROJECT = 'demo';
const RECEIVED_AT_MICROSECONDS = BigInt(Date.parse('2026-11-21T09:08:07Z')) * 1000n + 123n;

export const COLUMNS: Readonly<Record<SignalName, readonly Column[]>> = {
  traces: SPAN_COLUMNS,
  logs: LOG_COLUMNS,
  metrics: METRIC_COLUMNS,
};

/** The values that the table gives to the columns that plain spans leave out. */
export const LEFT_OUT: CopyTuple = {
  dropped_attributes_count: 0,
  dropped_events_count: 0,
  dropped_links_count: 0,
  events: [],
  links: [],
  ...Object.fromEntries(DERIVED_COLUMNS.map(({ name }) => [name, null])),
};

export type Line = Readonly<Record<string, unknown>>;

export class TestTables {
  readonly intake = new Intake();
  readonly pool = new ChunkPool();
  readonly #protos = loadProtos();

  /** Indexes a message; `json` is a body in OTLP/JSON instead. */
  batch(signal: Signal, message: Message | { readonly json: string }): Batch {
    const name = SIGNAL_NAMES[signal] as SignalName;
    const context = new Context({ signal: name, transport: 'http', authorization: undefined });
    const isJson = typeof message['json'] === 'string';
    const body = isJson
      ? Buffer.from(message['json'] as string)
      : encodeProtobuf(this.#protos.requests[signal], message as Message);
    const batch = this.intake.index(name, isJson ? 'json' : 'protobuf', body, context);
    batch.tables.stamp(batch.tables.constant(PROJECT), RECEIVED_AT_MICROSECONDS);
    return batch;
  }

  /** The batch's NDJSON as text. */
  text(batch: Batch): string {
    const rows = encodeRows(batch, 'ndjson', this.pool);
    const text = Buffer.concat(rows.chunks).toString('utf8');
    rows.release();
    return text;
  }

  /** Every line, parsed. */
  lines(batch: Batch): Line[] {
    return this.text(batch)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  }

  /** Its rows in COPY form. They belong to the caller until they are released. */
  copy(batch: Batch): EncodedRows {
    return encodeRows(batch, 'copy', this.pool);
  }

  /** Everything that would be stored of it, for searches. */
  copyBytes(batch: Batch): Buffer {
    const { chunks, contents, release } = this.copy(batch);
    const shared = [...(contents ?? [])].map(({ bytes }) => bytes);
    const bytes = Buffer.concat([...chunks, ...shared]);
    release();
    return bytes;
  }

  /** Every tuple of COPY BINARY with its contents, decoded into the values of NDJSON. */
  tuples(batch: Batch): CopyTuple[] {
    const { chunks, contents, isPlain, release } = this.copy(batch);
    if (contents === undefined) throw new Error('rows in COPY form come without what they refer to');
    const columns = isPlain ? PLAIN_SPAN_COLUMNS : TABLE_COLUMNS[batch.signal];
    const tuples = resolveTuples(readTuples(Buffer.concat(chunks), columns), contents);
    release();
    return isPlain ? tuples.map((tuple) => ({ ...LEFT_OUT, ...tuple })) : tuples;
  }
}
