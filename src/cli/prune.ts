/** `sluice prune`: removes a trace, a period, an environment or a project now, without waiting for the retention. */
import { isLockTimeout } from '../component/short-locks.ts';
import { parseMoment } from '../component/moment.ts';
import { createInterface } from 'node:readline';
import type { Config } from '../config/config.ts';
import { parseDuration } from '../config/units.ts';
import { UserError } from '../errors.ts';
import { type PartitionedTable, Partitions } from '../exporters/postgres/partitions.ts';
import { LOGS_SINCE } from '../extensions/console/filter/trace-spans.ts';
import { Administration } from '../extensions/postgres/administration.ts';
import { COMMAND_LINE } from '../component/capabilities/people.ts';
import { writeAudit } from '../extensions/postgres/audit.ts';
import type { Database } from '../extensions/postgres/database.ts';
import { removeUnsent, removeUnsentOf, UNSENT_OF_TRACE } from '../extensions/postgres/removal/unsent.ts';
import { requestErasure } from '../extensions/postgres/removal/archived.ts';
import { removeProject } from '../extensions/postgres/removal/project.ts';
import {
  countRecords,
  REMOVAL_LIMITS,
  type Removed,
  removeRecords,
  type Selection,
} from '../extensions/postgres/removal/records.ts';
import { normalizeEnvironment } from '../pdata/environment.ts';
import { TRACE_ID } from '../pdata/record-ids.ts';
import type { EnvironmentOptions } from '../processors/environment/environment.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { type Opened, withDatabase } from './database.ts';
import { requireProject } from './known-project.ts';
import { eraseArchived } from './lake/erase-archived.ts';
import { environmentOf } from './filters.ts';
import { LAKE_OPTION } from './lake/lake.ts';
import { flagOption, textOption, UsageError, type Values } from './options.ts';
import { plural } from './view/format.ts';

/** The longest `processors.auth.cache_ttl`. */
const REVOCATION_MS = 5_000;
const REPORT_MS = 5_000;
const HAS_PARTS = 'SELECT EXISTS (SELECT FROM sluice.parts WHERE $1::text IS NULL OR project = $1) AS found';
const NOW = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/u;

export const command: Command = {
  description:
    'Shows what will be removed, and asks. --project alone removes the project with its keys, settings, counters and\noutbox; the other forms keep the counters of months, and replay markers, so that the same requests do not return within\nthe hour. With --before, spans count by their beginning, log records and metric points by their arrival.\nRecords in the files of `sluice archive` and in requests of the outbox are erased too, except with --before, which\nshortens the retention of the tables once and leaves the archive and the outbox as they are.',
  options: {
    ...CONFIG_OPTIONS,
    trace: textOption('ID', 'This trace'),
    project: textOption('NAME', 'Of this project; alone: the project itself', { short: 'p' }),
    environment: textOption('NAME', 'Of this environment of the project', { short: 'e' }),
    before: textOption('TIME', 'Before a date, such as 2026-11-01, or older than a duration, such as 7d'),
    ...LAKE_OPTION,
    'dry-run': flagOption('Only show what would be removed'),
    yes: flagOption('Do not ask', { short: 'y' }),
  },
  examples: [
    ['sluice prune --trace 5b8efff798038103d269b633813fc60c', 'one trace with its log records'],
    ['sluice prune --project shop --environment staging --before 7d', 'what is older, of one environment'],
    ['sluice prune --project shop --dry-run', 'what removing the project would remove'],
  ],
  run: async (call) => {
    const work = choose(call);
    return withDatabase(call, 'write', async (database, opened) => {
      const { rows } = await database.query(HAS_PARTS, [call.values.text('project') ?? null]);
      if (!(await work(database, opened))) return;
      await eraseArchived(call, database, opened);
      if (rows[0]?.['found'] === true) call.terminal.say(sayObjects(call.values.text('before') !== undefined));
    });
  },
};

/** A period is removed from the tables alone. */
const sayObjects = (isPeriod: boolean): string =>
  isPeriod
    ? 'Objects keep what they contain, and `sluice compact` publishes it.'
    : 'Objects keep what they contain until they are removed; `sluice compact` does not publish it.';

/** Everything is checked before the database is opened. The result says whether anything was to be removed. */
function choose(call: Call): (database: Database, opened: Opened) => Promise<boolean> {
  const { values } = call;
  const [trace, project] = [values.text('trace'), values.text('project') ?? null];
  const selection = { project, environment: environmentOf(values), beforeMs: beforeOf(values, Date.now()) };
  const { environment, beforeMs } = selection;
  if (environment !== null && project === null) throw new UsageError('--environment needs --project');
  if (trace !== undefined) {
    if (environment !== null || beforeMs !== null)
      throw new UsageError('--trace takes no other selection but --project');
    if (!TRACE_ID.test(trace)) throw new UsageError(`"${trace}" is not the id of a trace`, 'as 32 hex digits');
    return (database) => pruneTrace(call, database, { project, traceId: trace.toLowerCase() });
  }
  if (environment === null && beforeMs === null) {
    if (project === null) throw new UsageError('name what to remove', '--trace, --project, --environment, --before');
    return (database, { config }) => pruneProject(call, { database, config, project });
  }
  return async (database, { config }) =>
    pruneRecords(call, database, {
      ...selection,
      beforeMs: beforeOf(values, await nowOf(database)),
      config,
    });
}

/** The clock of the database has dated the arrivals. That of this machine may be wrong by days. */
async function nowOf(database: Database): Promise<number> {
  const { rows } = await database.query(NOW);
  return Number(rows[0]?.['now']);
}

function beforeOf(values: Values, nowMs: number): number | null {
  const text = values.text('before');
  if (text === undefined) return null;
  const age = parseDuration(text);
  const ms = age !== null ? nowMs - age : DATE.test(text) ? parseMoment(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new UsageError(`--before takes a time, not "${text}"`, 'as 2026-11-01, 2026-11-01T12:00Z or 7d');
  if (ms > nowMs) throw new UsageError(`--before ${text} is in the future`);
  return Math.max(0, Math.floor(ms));
}

interface TraceChoice {
  readonly project: string | null;
  readonly traceId: string;
}

async function pruneTrace(call: Call, database: Database, { project, traceId }: TraceChoice): Promise<boolean> {
  // The records of a large trace take longer than a query of the pool may.
  const found = await database.session(REMOVAL_LIMITS, async (query) => {
    const claims = await query(
      `SELECT project, environment, first_ns, last_ns, ${LOGS_SINCE} AS logs_since
       FROM sluice.traces t WHERE trace_id = decode($1, 'hex') AND ($2::text IS NULL OR project = $2)`,
      [traceId, project],
    );
    const [claim] = claims.rows;
    if (claim === undefined) return claim;
    const counts = await query(
      `SELECT (SELECT count(*)::int4 FROM sluice.spans s WHERE (s.project = $1) IS TRUE AND s.trace_id = decode($2, 'hex')
           AND s.start_time_unix_nano BETWEEN $3::int8 AND $4::int8) AS spans,
         (SELECT count(*)::int4 FROM sluice.logs l WHERE l.project = $1 AND l.trace_id = decode($2, 'hex') AND l.received_at >= $5::timestamptz) AS logs`,
      [claim['project'], traceId, claim['first_ns'], claim['last_ns'], claim['logs_since']],
    );
    return { ...claim, ...counts.rows[0] };
  });
  if (found === undefined) return pruneRestOfTrace(call, database, { project, traceId });
  const owner = String(found['project']);
  const what = `the trace ${traceId} of ${owner}, ${found['environment']}: ${describe({
    spans: Number(found['spans']),
    logs: Number(found['logs']),
    metricPoints: 0,
  })}`;
  if (!(await confirmed(call, what, 'yes'))) return false;
  const removed = await new Administration(database).deleteTrace(owner, traceId);
  if (removed === null) throw new UserError(`there is no trace ${traceId}`, 'It was removed meanwhile.');
  call.terminal.print(`Removed ${describe({ ...removed, metricPoints: 0 })}.`);
  sayUnsent(call, removed.outboxEntries);
  return true;
}

/** A trace of which the tables have nothing any more, perhaps because an interrupted removal got no further. */
async function pruneRestOfTrace(call: Call, database: Database, { project, traceId }: TraceChoice): Promise<boolean> {
  const query = database.query.bind(database);
  const { rows } = await database.session(REMOVAL_LIMITS, (each) =>
    each(
      `SELECT EXISTS (SELECT FROM sluice.lake_jobs WHERE state <> 'published' OR $1::text IS NULL OR $1 = ANY (projects))
         OR EXISTS (SELECT FROM sluice.lake_erasures WHERE trace_id = $2)
         OR EXISTS (SELECT FROM sluice.parts WHERE $1::text IS NULL OR project = $1)
         OR EXISTS (${UNSENT_OF_TRACE}) AS found`,
      [project, traceId],
    ),
  );
  if (rows[0]?.['found'] !== true) throw new UserError(`there is no trace ${traceId}`, 'See `sluice traces`.');
  if (
    !(await confirmed(
      call,
      `the trace ${traceId} from the archive and the outbox; the tables have nothing of it`,
      'yes',
    ))
  )
    return false;
  await writeAudit(query, COMMAND_LINE, {
    action: 'trace.delete',
    project,
    target: traceId,
    details: { archived: true },
  });
  await requestErasure(query, { project, traceId });
  sayUnsent(call, await database.session(REMOVAL_LIMITS, (each) => removeUnsent(each, { project, traceId })));
  return true;
}

/** The environments of resources that name none. */
const defaultsOf = ({ processors }: Config): readonly string[] =>
  [...processors.values()].flatMap(({ definition, options }) =>
    definition.type === 'environment' ? [normalizeEnvironment((options as EnvironmentOptions).default)] : [],
  );

interface RecordChoice extends Selection {
  readonly config: Config;
}

async function pruneRecords(call: Call, database: Database, { config, ...selection }: RecordChoice): Promise<boolean> {
  if (selection.project !== null) await requireProject(database, config, selection.project);
  const counted = await database.session(REMOVAL_LIMITS, (query) => countRecords(query, selection));
  if (!(await confirmed(call, `${nameOf(selection)}: ${describe(counted)}`, 'yes'))) return false;
  const { project, environment, beforeMs } = selection;
  const before = beforeMs === null ? null : new Date(beforeMs).toISOString();
  // Before the batches, which an interruption may end.
  await writeAudit(database.query.bind(database), COMMAND_LINE, {
    action: 'records.remove',
    project,
    target: nameOf(selection),
    details: { environment, before, ...counted },
  });
  // Whole days of all projects are dropped at once, and their space is free at once.
  const days = project === null && beforeMs !== null ? await dropDays(database, beforeMs) : 0;
  const removed = await removeRecords(database, selection, reporter(call));
  if (project !== null && beforeMs === null)
    await requestErasure(database.query.bind(database), { project, environment });
  if (days > 0) call.terminal.say(`${plural(days, 'partition')} of whole days dropped.`);
  call.terminal.print(days > 0 ? `Removed ${describe(counted)}.` : `Removed ${describe(removed)}.`);
  if (project !== null && environment !== null && beforeMs === null) {
    const choice = { environment, isDefault: defaultsOf(config).includes(environment) };
    sayUnsent(call, await database.session(REMOVAL_LIMITS, (query) => removeUnsentOf(query, project, choice)));
  } else await sayKept(call, database, project);
  return true;
}

/** A period is removed from the tables alone. */
async function sayKept({ terminal }: Call, database: Database, project: string | null): Promise<void> {
  const { rows } = await database.query(
    'SELECT count(*)::int4 AS entries FROM sluice.outbox WHERE $1::text IS NULL OR project = $1',
    [project],
  );
  const entries = Number(rows[0]?.['entries']);
  if (entries > 0)
    terminal.say(
      `The outbox has ${plural(entries, 'request')} that may contain such records and will still be sent: see \`sluice outbox list\`.`,
    );
}

interface OneProject {
  readonly database: Database;
  readonly config: Config;
  readonly project: string;
}

async function pruneProject(call: Call, { database, config, project }: OneProject): Promise<boolean> {
  await requireProject(database, config, project);
  const selection = { project, environment: null, beforeMs: null };
  const counted = await database.session(REMOVAL_LIMITS, (query) => countRecords(query, selection));
  const what = `the project ${project}, with its keys, settings, prices, counters and outbox: ${describe(counted)}`;
  if (!(await confirmed(call, what, project))) return false;
  const removed = await removeProject(database, { project, revocationMs: REVOCATION_MS, report: reporter(call) });
  call.terminal.print(`Removed the project ${project}: ${describe(removed)}.`);
  call.terminal.say('A key of the configuration (processors.auth.keys) keeps its project until it is removed there.');
  return true;
}

/** Returns the number of dropped partitions. */
async function dropDays(database: Database, beforeMs: number): Promise<number> {
  const partitions = new Partitions(database);
  const tables: readonly PartitionedTable[] = [
    { name: 'spans', key: 'nanoseconds', retentionMs: 0 },
    { name: 'logs', key: 'timestamp', retentionMs: 0 },
    { name: 'metric_points', key: 'timestamp', retentionMs: 0 },
  ];
  let days = 0;
  try {
    for (const table of tables)
      for (const day of await partitions.past(table, beforeMs)) {
        await partitions.drop(table, day);
        days++;
      }
    return days;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new UserError(
      'a day could not be locked: a backup or a long query reads it, or the maintenance moves rows',
      'Run the command again later.',
    );
  }
}

/** Whether to remove it. Without a terminal --yes is needed. */
async function confirmed({ values, terminal, process }: Call, what: string, word: string): Promise<boolean> {
  const isTrial = values.flag('dry-run');
  terminal.say(`${isTrial ? 'Would remove' : 'Removes'} ${what}.`);
  if (isTrial) return false;
  if (values.flag('yes')) return true;
  if (process.stdin.isTTY !== true) throw new UserError('nothing was removed: this needs a confirmation', 'Add --yes.');
  if ((await answerTo(`Type ${word} to remove it: `, process)) === word) return true;
  terminal.say('Nothing was removed.');
  return false;
}

/** Empty after Ctrl-C, Ctrl-D and at the end of the input. */
function answerTo(question: string, { stdin, stderr }: NodeJS.Process): Promise<string> {
  const dialogue = createInterface({ input: stdin, output: stderr });
  return new Promise((resolve) => {
    const end = (): void => {
      stderr.write('\n');
      resolve('');
    };
    dialogue.once('close', end);
    dialogue.question(question, (answer) => {
      dialogue.off('close', end);
      dialogue.close();
      resolve(answer.trim());
    });
  });
}

function reporter({ terminal }: Call): (records: number) => void {
  let due = performance.now() + REPORT_MS;
  return (records) => {
    if (performance.now() < due) return;
    due = performance.now() + REPORT_MS;
    terminal.say(`${plural(records, 'record')} removed so far`);
  };
}

function nameOf({ project, environment, beforeMs }: Selection): string {
  const of = project === null ? 'all projects' : `project ${project}`;
  const within = environment === null ? '' : `, environment ${environment}`;
  return `${of}${within}${beforeMs === null ? '' : `, before ${new Date(beforeMs).toISOString()}`}`;
}

const describe = ({ spans, logs, metricPoints }: Removed): string =>
  `${plural(spans, 'span')}, ${plural(logs, 'log record')}, ${plural(metricPoints, 'metric point')}`;

function sayUnsent({ terminal }: Call, entries: number): void {
  if (entries > 0) terminal.say(`Removed them from ${plural(entries, 'request')} of the outbox.`);
}
