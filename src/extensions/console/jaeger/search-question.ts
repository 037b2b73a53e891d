/** The parameters of a search, in the forms of both APIs, as conditions on traces. */
import { type Conditions, compileFilter } from '../filter/compile.ts';
import { findField } from '../filter/fields.ts';
import type { Operator, Term } from '../filter/filter.ts';
import type { Parameters } from '../filter/parameters.ts';
import { isDuration, nanosecondsOf } from '../filter/values.ts';
import { LATEST_NS, parseInstant } from '../../../component/moment.ts';
import { END_NS, type Range } from '../api/question.ts';
import type { RequestContext } from '../server/route.ts';
import { refuse } from './jaeger-route.ts';
import { SECOND_NS } from '../../../pdata/time-units.ts';

const DEFAULT_LIMIT = 20;
const MAX_TAGS = 20;
const NS_PER_US = 1000n;
/** As long as a value of the filter can be. */
const LONGEST_DURATION_NS = 999_999_999n * SECOND_NS;
/** The service of spans whose resource names none. */
export const UNKNOWN_SERVICE = 'unknown_service';

export interface SearchQuestion {
  readonly service: string;
  readonly operation: string;
  readonly tags: ReadonlyMap<string, string>;
  readonly shortest: bigint | null;
  readonly longest: bigint | null;
  readonly range: Range;
  readonly limit: number;
}

/** `service`, `operation`, `tags`, `tag`, `minDuration`, `maxDuration`, `start`, `end` in microseconds, `limit`. */
export function readOldQuestion({ query }: RequestContext, highestLimit: number): SearchQuestion {
  const tags = readTags('tags', query.get('tags'));
  for (const tag of query.getAll('tag')) {
    const [, key = '', value = ''] = /^([^:]+):(.*)$/su.exec(tag) ?? [];
    if (key === '') throw refuse("unable to parse param 'tag': it has the form key:value");
    tags.set(key, value);
  }
  return checked({
    service: query.get('service') ?? '',
    operation: query.get('operation') ?? '',
    tags,
    shortest: readDuration('minDuration', query.get('minDuration')),
    longest: readDuration('maxDuration', query.get('maxDuration')),
    range: {
      from: readMicroseconds('start', query.get('start')) ?? 0n,
      until: readMicroseconds('end', query.get('end')) ?? END_NS,
    },
    limit: readLimit('limit', query.get('limit'), highestLimit),
  });
}

/** The parameters of version 3, such as `query.service_name`. Names in camel case are read too. */
export function readV3Question({ query }: RequestContext, highestLimit: number): SearchQuestion {
  const find = (...names: readonly string[]): readonly [string, string | null] => {
    const [first = ''] = names;
    const found = names.flatMap((name) => [name, camelCase(name)]).find((name) => query.has(`query.${name}`));
    return [`query.${found ?? first}`, query.get(`query.${found ?? first}`)];
  };
  return checked({
    service: find('service_name')[1] ?? '',
    operation: find('operation_name', 'span_name')[1] ?? '',
    tags: readTags(...find('attributes')),
    shortest: readDuration(...find('duration_min')),
    longest: readDuration(...find('duration_max')),
    range: {
      from: readInstant(...find('start_time_min')) ?? 0n,
      until: readInstant(...find('start_time_max')) ?? END_NS,
    },
    limit: readLimit(...find('search_depth', 'num_traces'), highestLimit),
  });
}

const camelCase = (name: string): string => name.replaceAll(/_(.)/gu, (_, letter: string) => letter.toUpperCase());

function checked(question: SearchQuestion): SearchQuestion {
  const { range, shortest, longest, tags } = question;
  if (range.from >= range.until) throw refuse('the start of the range must be before its end');
  if (shortest !== null && longest !== null && shortest > longest)
    throw refuse('the shortest duration must not be longer than the longest');
  if (tags.size > MAX_TAGS) throw refuse(`a search can have at most ${MAX_TAGS} tags`);
  return question;
}

function readLimit(name: string, text: string | null, highest: number): number {
  if (text === null || text === '') return Math.min(DEFAULT_LIMIT, highest);
  if (!/^\d{1,9}$/u.test(text) || Number(text) === 0) throw refuse(`unable to parse param '${name}'`);
  return Math.min(Number(text), highest);
}

/** A JSON object of texts. */
function readTags(name: string, text: string | null): Map<string, string> {
  if (text === null || text === '') return new Map();
  const value = parseObject(text);
  if (value === null) throw refuse(`unable to parse param '${name}': it is a JSON object of texts`);
  const entries = Object.entries(value).map(([key, each]) => {
    if (typeof each === 'object') throw refuse(`unable to parse param '${name}': ${key} has no text`);
    if (`${key}${each}`.includes('\0')) throw refuse(`unable to parse param '${name}': it has the character U+0000`);
    return [key, String(each)] as const;
  });
  return new Map(entries);
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** A duration in Go's syntax, in nanoseconds. */
function readDuration(name: string, text: string | null): bigint | null {
  if (text === null || text === '') return null;
  const written = text
    .replace(/^\+/u, '')
    .replaceAll('\u{3bc}', '\u{b5}')
    .replaceAll(/(^|[a-zµ])\./gu, '$10.');
  if (written === '0') return 0n;
  const ns = isDuration(written) && !written.includes('d') ? nanosecondsOf(written) : null;
  if (ns === null || ns > LONGEST_DURATION_NS)
    throw refuse(`unable to parse param '${name}': it is a duration such as 1.5s, 100ms or 1h2m`);
  return ns;
}

function readMicroseconds(name: string, text: string | null): bigint | null {
  if (text === null || text === '') return null;
  if (!/^\d{1,16}$/u.test(text)) throw refuse(`unable to parse param '${name}': it is a time in microseconds`);
  return least(BigInt(text) * NS_PER_US);
}

/** RFC 3339 with up to nine digits of the second. */
function readInstant(name: string, text: string | null): bigint | null {
  if (text === null || text === '') return null;
  const ns = parseInstant(text);
  if (ns === null || ns < 0n)
    throw refuse(`unable to parse param '${name}': it is a time such as 2026-11-20T14:05:09.123Z`);
  return least(ns);
}

const least = (ns: bigint): bigint => (ns < LATEST_NS ? ns : LATEST_NS);

const secondsOf = (ns: bigint): string => `${ns / SECOND_NS}.${String(ns % SECOND_NS).padStart(9, '0')}s`;

/** All of them hold on one span. */
export function conditionsOf(
  { caller, reader }: RequestContext,
  question: SearchQuestion,
  parameters: Parameters,
): Conditions {
  const { seesContent } = caller;
  const compile = (terms: readonly Term[]): Conditions =>
    compileFilter({ terms }, { target: 'span', seesContent, views: reader.views, parameters });
  const { service, operation, shortest, longest, tags } = question;
  const fixed = [
    ...(operation === '' ? [] : [termOf('name', '=', operation)]),
    ...(shortest === null ? [] : [termOf('duration', '>=', secondsOf(shortest))]),
    ...(longest === null ? [] : [termOf('duration', '<=', secondsOf(longest))]),
  ];
  const known = [...tags].map(([key, value]) => knownTag(key, value));
  const ofJson = [...tags].filter((_, at) => known[at] === null);
  const conditions = compile([...fixed, ...known.filter((term) => term !== null)]);
  // Attributes are content: without the right to it only those of the resource are searched.
  const json = ofJson.map(([key, value]) => {
    const places = [...(seesContent ? [`attr.${key}`] : []), `resource.${key}`];
    return `(${places.flatMap((place) => compile([termOf(place, '=', value)]).row).join(' OR ')})`;
  });
  const ofService = service === '' ? [] : compile([termOf('service', '=', service)]).row;
  const named =
    service === UNKNOWN_SERVICE ? [`(${[...ofService, 's.service_name IS NULL'].join(' OR ')})`] : ofService;
  const row = [...named, ...conditions.row, ...json];
  return {
    ...conditions,
    ...{ row, own: row },
    isHeavy: conditions.isHeavy || json.length > 0,
  };
}

/** Tags that Jaeger makes of other fields of a span; null: an attribute. */
function knownTag(key: string, value: string): Term | null {
  switch (key) {
    case 'error':
      return { ...termOf('error', '=', ''), values: [], negated: value === 'false' };
    case 'span.kind':
      return termOf('kind', '=', value.toLowerCase());
    case 'otel.status_code':
      return termOf('status', '=', value.toLowerCase());
    case 'otel.scope.name':
    case 'otel.library.name':
      return termOf('scope', '=', value);
    default:
      return null;
  }
}

function termOf(name: string, operator: Operator, text: string): Term {
  const found = findField(name);
  if (found === null) throw refuse(`a tag cannot have the name ${name}`);
  return { ...found, operator, values: [{ text, isPrefix: false, at: 0 }], negated: false, at: 0 };
}
