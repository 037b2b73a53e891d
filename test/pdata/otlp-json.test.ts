/** Rows written as OTLP, in JSON or protobuf, are read again as the same rows, for every captured sender. */
import t from 'tap';
import { DERIVED_COLUMNS } from '../../src/pdata/columns.ts';
import type { Signal } from '../../src/pdata/context.ts';
import { otlpJson } from '../../src/pdata/otlp-json.ts';
import { tracesProtobuf } from '../../src/pdata/otlp-protobuf.ts';
import { STORED_COLUMNS, type StoredText } from '../../src/pdata/stored-text.ts';
import { rowsOf, senders } from '../processors/normalization/captures.ts';
import { Normalized, type Row } from '../processors/normalization/normalized.ts';

const normalized = new Normalized();
const DERIVED = DERIVED_COLUMNS.map(({ name }) => name);

/** As a query would read it. */
function asText(signal: Signal, row: Row): StoredText {
  return Object.fromEntries(
    STORED_COLUMNS[signal].map(({ name, type }) => {
      const value = row[name] ?? null;
      if (value === null) return [name, null];
      return [name, type === 'json' ? JSON.stringify(value) : String(value)];
    }),
  );
}

const signalOf = (row: Row): 'traces' | 'logs' => (row['signal'] === 'span' ? 'traces' : 'logs');

for (const sender of senders()) {
  t.test(`the rows of ${sender.sender}`, async (t) => {
    for (const [name, scenario] of Object.entries(sender.scenarios)) {
      for (const row of rowsOf(normalized, sender, scenario)) {
        const signal = signalOf(row);
        const json = otlpJson(signal, [asText(signal, row)]);
        const [again = {}] = normalized.rows(signal, 'json', Buffer.from(json));
        if (signal === 'traces') {
          const [decoded = {}] = normalized.rows(signal, 'protobuf', tracesProtobuf(json));
          const differing = Object.keys(again).filter(
            (key) => JSON.stringify(decoded[key]) !== JSON.stringify(again[key]),
          );
          if (differing.length > 0) t.same(differing, [], `${name}: protobuf of ${String(row['name'])}`);
        }
        const differing = DERIVED.filter((column) => JSON.stringify(row[column]) !== JSON.stringify(again[column]));
        for (const column of differing)
          t.same(again[column], row[column], `${name}: ${column} of ${String(row['name'] ?? row['event_name'])}`);
        const source = [
          'resource',
          'scope_name',
          'scope_version',
          'scope_attributes',
          'events',
          'links',
          'body',
          'name',
          'kind',
        ];
        for (const column of [
          ...source,
          'status',
          'status_message',
          'trace_id',
          'span_id',
          'parent_span_id',
          'duration_ns',
          'flags',
        ])
          if (JSON.stringify(row[column]) !== JSON.stringify(again[column]))
            t.same(again[column], row[column], `${name}: ${column} of ${String(row['name'] ?? row['event_name'])}`);
      }
    }
    t.pass();
  });
}
