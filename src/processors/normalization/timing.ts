/** The duration of a step and the time to the first token, from any unit of the sender. */
import { NUMBER_LATENCY_MS, NUMBER_TIME_TO_FIRST_TOKEN_MS } from '../../pdata/layout.ts';
import { trimTo } from '../../dialects/lookup/trim-to.ts';
import { parseMoment } from '../../component/moment.ts';
import type { RecordView } from './record-view.ts';
import { fieldNumber, type Rule } from './rules.ts';

const TIME_TO_FIRST_TOKEN = fieldNumber('time_to_first_token');
const LATENCY = fieldNumber('latency');
const MILLISECONDS: Readonly<Record<string, number>> = { s: 1000, ms: 1 };
const NANOSECONDS_PER_MILLISECOND = 1_000_000;
/** Spans cannot take longer: their times are at most 2^63-1 nanoseconds. */
const LONGEST_MILLISECONDS = 2 ** 63 / NANOSECONDS_PER_MILLISECOND;
/** A smaller number is no present time in epoch milliseconds. */
const EPOCH_MILLISECONDS = 100_000_000_000;
/** Longer texts are no instants. */
const MAX_INSTANT = 64;

/** The latency of a span is its duration; that of a log record is an attribute. */
export function fillTimes(view: RecordView): void {
  const { derived } = view;
  const { signal } = view.batch;
  derived.setNumber(NUMBER_LATENCY_MS, signal === 'traces' ? spanLatency(view) : first(view, LATENCY));
  derived.setNumber(NUMBER_TIME_TO_FIRST_TOKEN_MS, first(view, TIME_TO_FIRST_TOKEN));
}

function spanLatency(view: RecordView): number {
  return view.category === 0 ? Number.NaN : view.batch.records.goto(view.record).durationMs;
}

function first(view: RecordView, field: number): number {
  const { fields } = view;
  const candidates = fields.countOf(field);
  for (let index = 0; index < candidates; index++) {
    const milliseconds = millisecondsAt(view, fields.ruleAt(field, index), fields.rowAt(field, index));
    if (milliseconds <= LONGEST_MILLISECONDS) return milliseconds;
  }
  return Number.NaN;
}

function millisecondsAt(view: RecordView, rule: Rule, row: number): number {
  if (rule.unit === 'timestamp') return instantAt(view, rule, row);
  const amount = view.reader.amount(rule, row);
  if (rule.unit === 'ns') return amount / NANOSECONDS_PER_MILLISECOND;
  return roundToNanosecond(amount * (MILLISECONDS[rule.unit ?? 'ms'] ?? 1));
}

/** Seconds as a double times a thousand have rounding errors below a nanosecond. */
function roundToNanosecond(milliseconds: number): number {
  return Math.round(milliseconds * NANOSECONDS_PER_MILLISECOND) / NANOSECONDS_PER_MILLISECOND;
}

function instantAt(view: RecordView, rule: Rule, row: number): number {
  const epoch = view.reader.amount(rule, row);
  const milliseconds = Number.isNaN(epoch) ? parseMoment(isoText(view, rule, row)) : epoch;
  if (Number.isNaN(milliseconds) || milliseconds < EPOCH_MILLISECONDS) return Number.NaN;
  const start = view.batch.records.goto(view.record).startApproximateNs / NANOSECONDS_PER_MILLISECOND;
  return Math.max(0, Math.round((milliseconds - start) * 1000) / 1000);
}

/** An ISO instant, with or without the quotes of a JSON string. */
function isoText(view: RecordView, rule: Rule, row: number): string {
  if (rule.paths === null && view.reader.sizeOf(row) > MAX_INSTANT) return '';
  const text = rule.paths === null ? view.reader.text(row) : view.reader.part(rule, row);
  return trimTo(text ?? '', rule)
    .slice(0, MAX_INSTANT)
    .replace(/^"|"$/g, '');
}
