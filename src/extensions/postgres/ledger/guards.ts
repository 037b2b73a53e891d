/**
 * The guards of a group as steps of a pipeline: one statement per guard, with keys sorted over the whole group, so that
 * two writers lock rows in the same order and cannot deadlock.
 *
 * Each guard has two forms. The optimistic form fails the transaction with `GuardRefusal` unless all requests pass, so
 * it can be sent together with the rows. The pessimistic form returns which requests are refused.
 */
import type pg from 'pg';
import type { Claim } from '../../../component/capabilities/ledger.ts';
import { type ClaimedTraces, mergeTraces, wordsOf } from '../../../pdata/claimed-traces.ts';
import { OwnedTraces } from '../../../pdata/owned-traces.ts';
import { finish } from '../../../pdata/steps.ts';
import { byteaArray, idArray, integerArray, textArray, timeArray } from '../array-parameter.ts';
import { type Parameter, type Row, runPipeline, type Step } from '../wire-pipeline.ts';
import { sqlstateOf } from '../sqlstate.ts';
import {
  ADD_USAGE,
  CLAIM_MARKERS,
  CLAIM_TRACES,
  ASSERT_MARKERS,
  ASSERT_ROOM,
  ASSERT_TRACES,
  ASSERT_USAGE,
  AWAIT_STANDBY,
  DIVISION_BY_ZERO,
  FIND_MARKERS,
  FIND_TRACES,
  LOCK_USAGE,
} from './guard-statements.ts';

/** A statement of this size ends in time on a slow disk, and its arrays are built within a few milliseconds. */
export const TRACES_PER_STATEMENT = 8192;

/** An optimistic guard failed. Only the pessimistic guards report which guard, and for which request. */
export class GuardRefusal extends Error {
  constructor() {
    super('a guard refused the group');
  }
}

/** What the guards return besides their outcomes. */
export interface Reading {
  /** Seconds until the next UTC month, by the database's clock; 0 unless a project with a quota was read. */
  resetSeconds: number;
}

/** The results of the pessimistic guards. */
export interface Answers extends Reading {
  /** Names of the claims with an existing replay marker. */
  readonly marked: ReadonlySet<string>;
  /** Ids of the traces that could not be claimed. */
  readonly missing: ReadonlySet<string>;
  /** Spans of this month by project, for projects with a quota; locked until the transaction ends. */
  readonly used: ReadonlyMap<string, number>;
}

/**
 * Steps in portions, which run in this order. All portions but the last should run by themselves: a request may name
 * hundreds of thousands of traces, too many for one statement and for one pass of the event loop. Claims must not
 * contradict each other: no two with one body, no two with different claims on one trace.
 */
export function* optimisticGuards(claims: readonly Claim[]): Generator<readonly Step[]> {
  let portion: Step[] = [{ statement: ASSERT_MARKERS, values: markerArrays(claims), translate: asRefusal }];
  let portions = 0;
  for (const part of portionsOfTraces(claims)) {
    if (portions++ > 0) {
      yield portion;
      portion = [];
    }
    portion.push({ statement: ASSERT_TRACES, values: traceArrays(part), translate: asRefusal });
  }
  yield [...portion, ...expectRoom(claims)];
}

/** Finds most requests beyond a quota before their rows are written. */
function expectRoom(claims: readonly Claim[]): readonly Step[] {
  const room = roomOf(claims);
  return room.size === 0 ? [] : [{ statement: ASSERT_ROOM, values: roomArrays(room), translate: asRefusal }];
}

/**
 * The optimistic guard of quotas. It locks the counters until the transaction ends, and the next requests of these
 * projects wait for that, so it comes after the rows.
 */
export function assertRoom(claims: readonly Claim[], reading: Reading): readonly Step[] {
  const room = roomOf(claims);
  if (room.size === 0) return [];
  return [
    {
      statement: ASSERT_USAGE,
      values: roomArrays(room),
      read: ({ rows }) => void (reading.resetSeconds = Number(rows[0]?.[0])),
      translate: asRefusal,
    },
  ];
}

const roomArrays = (room: ReadonlyMap<string, number>): readonly Parameter[] => [
  textArray([...room.keys()]),
  integerArray([...room.values()]),
];

/** Sets the markers and owners that can be set, and returns the state found. */
export async function pessimisticGuards(
  client: pg.Client,
  opening: readonly Step[],
  claims: readonly Claim[],
): Promise<Answers> {
  const marked = new Set<string>();
  const missing = new Set<string>();
  const used = new Map<string, number>();
  const answers = { marked, missing, used, resetSeconds: 0 };
  const each = (take: (row: Row) => void): Pick<Step, 'read'> => ({ read: ({ rows }) => rows.forEach(take) });
  let steps: Step[] = [
    ...opening,
    { statement: CLAIM_MARKERS, values: markerArrays(claims), ...each((row) => marked.add(rowName(row))) },
  ];
  let portions = 0;
  for (const part of portionsOfTraces(claims)) {
    if (portions++ > 0) {
      await runPipeline(client, steps);
      steps = [];
    }
    for (let index = part.from; index < part.to; index++) missing.add(part.traces.traceIdOf(index));
    const take = each(([traceId]) => missing.delete(String(traceId)));
    steps.push({ statement: CLAIM_TRACES, values: traceArrays(part), ...take });
  }
  const projects = [...roomOf(claims).keys()];
  if (projects.length > 0) {
    const take = each(([project, spans, seconds]) => {
      used.set(String(project), Number(spans));
      answers.resetSeconds = Number(seconds);
    });
    steps.push({ statement: LOCK_USAGE, values: [textArray(projects)], ...take });
  }
  await runPipeline(client, steps);
  return answers;
}

/** Precedes an answer that relies on a commit of another session. Must run outside of a transaction. */
export const awaitStandby: Step = { statement: AWAIT_STANDBY };

/**
 * The claims with an unexpired marker, and its age in milliseconds. An expired marker that is not removed yet proves no
 * lost commit.
 */
export async function findMarkers(
  client: pg.Client,
  claims: readonly Claim[],
  reading: Reading,
): Promise<ReadonlyMap<Claim, number>> {
  const claimOf = new Map(claims.map((claim) => [nameOf(claim), claim]));
  const ages = new Map<Claim, number>();
  const read: Step['read'] = ({ rows }) => {
    for (const row of rows) {
      ages.set(claimOf.get(rowName(row)) as Claim, Number(row[2]));
      reading.resetSeconds = Number(row[3]);
    }
  };
  await runPipeline(client, [{ statement: FIND_MARKERS, values: markerArrays(claims), read }, awaitStandby]);
  return ages;
}

export async function findTraces(client: pg.Client, traceIds: readonly string[]): Promise<OwnedTraces> {
  const found = new OwnedTraces(traceIds.length);
  const read: Step['read'] = ({ rows }) => readOwners(rows, found);
  for (let at = 0; at < traceIds.length; at += TRACES_PER_STATEMENT) {
    const ids = traceIds.slice(at, at + TRACES_PER_STATEMENT);
    const values = [byteaArray(ids.map((id) => Buffer.from(id, 'hex')))];
    await runPipeline(client, [{ statement: FIND_TRACES, values, read }]);
  }
  return found;
}

/** Reads the rows of `FIND_TRACES`. */
export function readOwners(rows: readonly Row[], owners: OwnedTraces): void {
  for (const [traceId, project, environment] of rows)
    owners.claim(wordsOf(String(traceId)), 0, { project: String(project), environment: String(environment) });
}

export interface Usage {
  spans: number;
  logs: number;
  metricPoints: number;
}

/** The most contended row comes last, so that it is locked for the shortest time. */
export function addUsage(usage: ReadonlyMap<string, Usage>): Step {
  const sums = [...usage.values()];
  return {
    statement: ADD_USAGE,
    values: [
      textArray([...usage.keys()]),
      integerArray(sums.map(({ spans }) => spans)),
      integerArray(sums.map(({ logs }) => logs)),
      integerArray(sums.map(({ metricPoints }) => metricPoints)),
    ],
  };
}

/**
 * How many spans a project with a quota may have stored before this group so that the whole group passes. Logs and
 * metrics require an unused quota, so one span of room is reserved for them. This is too strict at the exact limit,
 * where the pessimistic guards decide exactly.
 */
function roomOf(claims: readonly Claim[]): ReadonlyMap<string, number> {
  const room = new Map<string, number>();
  for (const { project, signal, spanCount } of claims) {
    if (project.monthlySpans === null) continue;
    const left = room.get(project.name) ?? project.monthlySpans;
    room.set(project.name, left - (signal === 'traces' ? spanCount : 1));
  }
  return new Map([...room].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The traces of one statement: those from one index to another. */
interface TracePortion {
  readonly traces: ClaimedTraces;
  readonly from: number;
  readonly to: number;
}

/** Sorted over all claims; nothing when no trace is claimed. Generated lazily, as a request can claim very many. */
function* portionsOfTraces(claims: readonly Claim[]): Generator<TracePortion> {
  const [only] = claims;
  const traces = claims.length === 1 && only !== undefined ? only.traces : merged(claims);
  for (let from = 0; from < traces.count; from += TRACES_PER_STATEMENT)
    yield { traces, from, to: Math.min(from + TRACES_PER_STATEMENT, traces.count) };
}

function merged(claims: readonly Claim[]): ClaimedTraces {
  const list = mergeTraces(claims.map(({ traces }) => traces));
  // A single statement sorts its keys itself.
  return list.count > TRACES_PER_STATEMENT ? finish(list.sorted()) : list.inOrderOfClaims();
}

function traceArrays({ traces, from, to }: TracePortion): readonly Parameter[] {
  const owners = Array.from({ length: to - from }, (_, offset) => traces.ownerOf(from + offset));
  return [
    idArray(traces, from, to),
    textArray(owners.map(({ project }) => project)),
    textArray(owners.map(({ environment }) => environment)),
    timeArray(traces, from, to, 'first'),
    timeArray(traces, from, to, 'last'),
  ];
}

export function markerArrays(claims: readonly Claim[]): readonly Parameter[] {
  return [textArray(claims.map(({ project }) => project.name)), byteaArray(claims.map(({ replayKey }) => replayKey))];
}

function asRefusal(error: unknown): unknown {
  return sqlstateOf(error) === DIVISION_BY_ZERO ? new GuardRefusal() : error;
}

export function rowName([project, key]: Row): string {
  return `${project}\0${key}`;
}

/** Identifies a body: project and replay key. */
export function nameOf(claim: Claim): string {
  return `${claim.project.name}\0${Buffer.from(claim.replayKey).toString('hex')}`;
}
