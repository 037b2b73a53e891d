/**
 * Expensive bodies of the maximum size. The time limits are far above the usual times, so that they hold on a busy
 * machine.
 */
import t, { type Test } from 'tap';
import {
  FAIL_BUDGET,
  HEADER_ATTRIBUTES,
  HEADER_EVENTS,
  HEADER_LINKS,
  HEADER_LOCAL_SYMBOLS,
  HEADER_METRICS,
  HEADER_NUMBERS,
  HEADER_POINTS,
  HEADER_RECORDS,
  HEADER_RESOURCES,
  HEADER_SCOPES,
  HEADER_SYMBOLS,
  INPUT_CAPACITY,
  MAX_ATTRIBUTES,
  MAX_EVENTS,
  MAX_LINKS,
  MAX_LOCAL_SYMBOLS,
  MAX_METRICS,
  MAX_NUMBERS,
  MAX_POINTS,
  MAX_RECORDS,
  MAX_RESOURCES,
  MAX_SCOPES,
  MAX_SYMBOLS,
  SIGNAL_LOGS,
  SIGNAL_METRICS,
  SIGNAL_TRACES,
  DISPOSITION_KEEP,
  DISPOSITION_SUPERSEDED,
} from '../../../src/pdata/layout.ts';
import { isLong } from '../../support/long.ts';
import { isPrompt } from '../../support/promptness.ts';
import { IndexedBody } from './indexed-body.ts';
import * as pb from './protobuf-writer.ts';

/** The most bytes of the containers around a filling. */
const ENVELOPE = 200;
const MAX_MILLISECONDS = 2000;
const MILLION = 1_000_000;

const BUDGETS: readonly (readonly [number, number])[] = [
  [HEADER_RECORDS, MAX_RECORDS],
  [HEADER_ATTRIBUTES, MAX_ATTRIBUTES],
  [HEADER_EVENTS, MAX_EVENTS],
  [HEADER_LINKS, MAX_LINKS],
  [HEADER_RESOURCES, MAX_RESOURCES],
  [HEADER_SCOPES, MAX_SCOPES],
  [HEADER_METRICS, MAX_METRICS],
  [HEADER_POINTS, MAX_POINTS],
  [HEADER_NUMBERS, MAX_NUMBERS],
  [HEADER_SYMBOLS, MAX_SYMBOLS],
  [HEADER_LOCAL_SYMBOLS, MAX_LOCAL_SYMBOLS],
];

const body = new IndexedBody({ pauses: true });

/** As many copies of a field as fit into a body. */
function filling(unit: Buffer): Buffer {
  return Buffer.alloc(Math.floor((INPUT_CAPACITY - ENVELOPE) / unit.length) * unit.length, unit);
}

/** Attributes of a span with the keys 0, 1, 2… in base 36 and no values. */
function distinctKeys(count: number): Buffer {
  const bytes = Buffer.alloc(count * 16);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const key = i.toString(36);
    for (const byte of [0x4a, key.length + 2, 0x0a, key.length]) bytes[at++] = byte;
    at += bytes.write(key, at, 'latin1');
  }
  return bytes.subarray(0, at);
}

async function indexWithinBounds(t: Test, signal: number, request: Buffer): Promise<number | undefined> {
  let fault: number | undefined;
  t.ok(await isPrompt(MAX_MILLISECONDS, () => (fault = body.index(signal, request))), 'takes bounded time');
  t.strictSame(
    BUDGETS.filter(([header, most]) => body.header(header) > most),
    [],
    'no table exceeds its rows',
  );
  return fault;
}

t.test('more rows than a table holds are refused, for every table', async (t) => {
  const many = (field: number): Buffer =>
    Buffer.concat(Array.from({ length: 1000 }, (_, i) => pb.attribute(field, `k${i}`, pb.varint(3, 1))));
  const spans = (...fields: Buffer[]): Buffer => pb.request(pb.span(...fields));
  const point = (type: number, ...fields: Buffer[]): Buffer => pb.request(pb.message(type, pb.message(1, ...fields)));
  const bodies: [string, number, Buffer][] = [
    ['resources', SIGNAL_TRACES, filling(pb.message(1))],
    ['scopes', SIGNAL_TRACES, pb.message(1, filling(pb.message(2)))],
    ['attributes', SIGNAL_TRACES, spans(filling(pb.message(9)))],
    ['events', SIGNAL_TRACES, spans(filling(pb.message(11)))],
    ['links', SIGNAL_TRACES, spans(filling(pb.message(13)))],
    ['log records', SIGNAL_LOGS, pb.message(1, pb.message(2, filling(pb.message(2))))],
    ['metrics', SIGNAL_METRICS, pb.message(1, pb.message(2, filling(pb.message(2))))],
    ['points', SIGNAL_METRICS, pb.request(pb.message(9, filling(pb.message(1))))],
    ['exemplars', SIGNAL_METRICS, point(5, filling(pb.message(5)))],
    ['numbers', SIGNAL_METRICS, point(10, pb.message(8, pb.message(2, filling(Buffer.alloc(1)))))],
    ['quantiles', SIGNAL_METRICS, point(11, filling(pb.message(6)))],
    ['repeated resources', SIGNAL_TRACES, pb.message(1, pb.message(1, many(1)), filling(pb.message(1)))],
    ['repeated scopes', SIGNAL_TRACES, pb.message(1, pb.message(2, pb.message(1, many(3)), filling(pb.message(1))))],
    [
      'repeated buckets',
      SIGNAL_METRICS,
      point(10, pb.message(8, pb.message(2, Buffer.alloc(1000))), filling(pb.message(8))),
    ],
  ];
  // An ordinary test has every third body.
  for (const [title, signal, request] of bodies.filter((_, at) => isLong || at % 3 === 2))
    t.equal(await indexWithinBounds(t, signal, request), FAIL_BUDGET, title);
  t.equal(body.index(SIGNAL_TRACES, pb.request(pb.span())), undefined, 'the next request is not affected');
});

t.test('distinct keys are indexed up to the size of the tables, in every request', async (t) => {
  const most = distinctKeys(MAX_LOCAL_SYMBOLS);
  for (let round = 0; round < 2; round++) {
    t.equal(await indexWithinBounds(t, SIGNAL_TRACES, pb.request(pb.span(most))), undefined);
    t.equal(body.attribute(MAX_LOCAL_SYMBOLS - 1).key, (MAX_LOCAL_SYMBOLS - 1).toString(36));
  }
  t.equal(await indexWithinBounds(t, SIGNAL_TRACES, pb.request(pb.span(distinctKeys(MILLION)))), FAIL_BUDGET);
  t.equal(
    await indexWithinBounds(t, SIGNAL_TRACES, pb.request(pb.span(most))),
    undefined,
    'the next request is not affected',
  );
});

t.test('a million attributes with the same key become one', async (t) => {
  const same = Buffer.alloc(5 * MILLION, pb.message(9, pb.text(1, 'a')));
  t.equal(await indexWithinBounds(t, SIGNAL_TRACES, pb.request(pb.span(same))), undefined);
  t.match(body.attribute(MILLION - 2), { key: 'a', disposition: DISPOSITION_SUPERSEDED });
  t.match(body.attribute(MILLION - 1), { key: 'a', disposition: DISPOSITION_KEEP });
});

t.test('fields without a row take little time per byte', async (t) => {
  const attribute = (...value: Buffer[]): Buffer => pb.request(pb.span(pb.attribute(9, 'k', ...value)));
  const bodies: [string, number, Buffer][] = [
    ['unknown varints', SIGNAL_TRACES, filling(pb.varint(15, 0))],
    ['keys of one attribute', SIGNAL_TRACES, pb.request(pb.span(pb.message(9, filling(pb.text(1, 'a')))))],
    ['values of one attribute', SIGNAL_TRACES, attribute(filling(pb.text(1, 'a')))],
    ['nested values', SIGNAL_TRACES, attribute(pb.message(5, filling(pb.message(1))))],
    ['gauges of one metric', SIGNAL_METRICS, pb.request(filling(pb.message(5)))],
    ['empty lists', SIGNAL_METRICS, pb.request(pb.message(9, pb.message(1, filling(pb.message(6)))))],
    ['one long text', SIGNAL_TRACES, pb.request(pb.span(pb.message(5, filling(Buffer.from('你')))))],
  ];
  for (const [title, signal, request] of bodies) t.equal(await indexWithinBounds(t, signal, request), undefined, title);
});
