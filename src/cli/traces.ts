/** `sluice traces`: stored traces, newest first, one line each. */
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import { loadNewest } from './lake/archived-list.ts';
import { findObjectsOptions } from './lake/archive-place.ts';
import type { Call, Command } from './command.ts';
import { commandLine } from './command-line.ts';
import { FILTER_OPTION } from './filter-option.ts';
import { FILTER_OPTIONS } from './filters.ts';
import { LAKE_OPTION, withLake } from './lake/lake.ts';
import { flagOption, limitOf, limitOption, textOption } from './options.ts';
import { type Reader, READER_OPTIONS, sinceOf, withReader } from './reader.ts';
import { type Place, readTraces, type TraceRow } from './traces-query.ts';
import { asJson } from './view/screen-text.ts';
import { describeTraces } from './view/trace-list.ts';

const DEFAULT_LIMIT = 20;
const HIGHEST_LIMIT = 1000;
const FOLLOW_MS = 1_000;
/** Options that leave out traces. */
const NARROWING = ['project', 'min-cost', 'search', 'since', 'errors', 'filter', ...Object.keys(FILTER_OPTIONS)];
/** The longest transaction that stores a trace, so that `--follow` misses none. */
const COMMIT_SLACK_US = 30_000_000n;

export const command: Command = {
  description:
    'ERRORS counts failed spans, as the console and the view `traces` do: a failed call and the agent that failed because\nof it are two. `sluice usage --errors` counts failed calls.',
  options: {
    ...READER_OPTIONS,
    ...FILTER_OPTIONS,
    ...FILTER_OPTION,
    ...LAKE_OPTION,
    'min-cost': textOption('AMOUNT', 'Only traces that cost at least this'),
    search: textOption('TEXT', 'Only traces with this text in a name or in content'),
    since: textOption('TIME', 'Only traces since this time: 12h or 7d ago, or 2026-11-20T14:00Z'),
    errors: flagOption('Only those with an error'),
    follow: flagOption('Print new traces as they arrive, until Ctrl-C', { short: 'f' }),
    limit: limitOption('The maximum number of traces', DEFAULT_LIMIT),
  },
  examples: [
    ['sluice traces --since 1h', 'traces of the last hour'],
    ['sluice traces --errors --project shop', 'failed traces of one project'],
    ['sluice traces --user u-1 --search refund', 'traces of one user with a word in them'],
    ["sluice traces --filter 'model:gpt-5* duration:>2s -service:worker'", 'traces with a span that matches all terms'],
    ['sluice traces --follow --min-cost 0.05', 'expensive traces as they arrive'],
  ],
  run: (call) => {
    const { values, terminal } = call;
    const nowMs = Date.now();
    const since = sinceOf(values, nowMs);
    const limit = limitOf(values, HIGHEST_LIMIT);
    return withReader(call, async (reader) => {
      if (values.flag('follow')) {
        refuseUnfollowed(reader.config);
        return follow(reader, call);
      }
      const columns = values.flag('search') || values.flag('filter') ? 'all' : 'figures';
      return withLake(call, reader, { columns }, async (lake) => {
        const read = () => readTraces(lake?.reader ?? reader, values, { since, limit });
        const project = values.text('project') ?? null;
        const readTimes = async () => (await read()).map(({ time_ns }) => BigInt(time_ns));
        if (lake !== null) await loadNewest(lake, { project, since, limit }, readTimes);
        const rows = await read();
        const isUnread = lake !== null && lake.unread !== null;
        if (values.flag('json')) terminal.print(asJson(rows.map(asData)));
        else if (rows.length === 0 && isUnread)
          terminal.print('No traces in PostgreSQL match, and others are not read.');
        else terminal.print(rows.length === 0 ? describeNone(call) : describeTraces(rows, terminal, nowMs));
      });
    });
  },
};

function describeNone(call: Call): string {
  const isNarrowed = NARROWING.some((name) => call.values.flag(name));
  return isNarrowed ? 'No traces match.' : `There are no traces. \`${commandLine(call, 'demo')}\` sends an example.`;
}

/** Records of objects are not followed. */
function refuseUnfollowed(config: Config): void {
  const isStored = config.service.pipelines.some(
    ({ signal, exporters }) =>
      signal !== 'metrics' && exporters.some((id) => config.exporters.get(id)?.definition.type === 'postgres'),
  );
  if (isStored || findObjectsOptions(config) === null) return;
  throw new UserError(
    'this configuration stores traces in objects only, and --follow shows what arrives in PostgreSQL',
    'See requests as they arrive with `sluice tap`, and stored traces with `sluice traces`.',
  );
}

/** Prints what arrives from now on, and never returns. */
async function follow(reader: Reader, { values, terminal }: Call): Promise<never> {
  const [now] = await reader.query('SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8 AS us');
  let fromUs = BigInt(String(now?.['us']));
  /** Printed traces that the next poll would find again, with their arrival. */
  const printed = new Map<string, bigint>();
  let columns = '';
  const print = (rows: readonly TraceRow[]): void => {
    if (values.flag('json')) for (const row of rows) terminal.print(asJson(asData(row)).replace(/\n\s*/gu, ''));
    else if (rows.length > 0) {
      const text = describeTraces(rows, terminal, Date.now());
      const end = text.indexOf('\n');
      const names = text.slice(0, end).replace(/ +/gu, ' ');
      terminal.print(names === columns ? text.slice(end + 1) : text);
      columns = names;
    }
  };
  terminal.say('Waiting for new traces.');
  for (;;) {
    let place: Place | null = { arrived_us: String(fromUs), trace_id: '' };
    const except = [...printed.keys()];
    let newestUs = fromUs;
    while (place !== null) {
      const rows = await readTraces(reader, values, { since: null, limit: HIGHEST_LIMIT, after: { place, except } });
      print(rows);
      for (const { trace_id, arrived_us } of rows) {
        newestUs = BigInt(arrived_us);
        printed.set(trace_id, newestUs);
      }
      place = rows.length < HIGHEST_LIMIT ? null : (rows.at(-1) ?? null);
    }
    // A transaction that began earlier may commit later.
    if (newestUs - COMMIT_SLACK_US > fromUs) fromUs = newestUs - COMMIT_SLACK_US;
    for (const [id, arrivedUs] of printed) if (arrivedUs < fromUs) printed.delete(id);
    await new Promise((wake) => setTimeout(wake, FOLLOW_MS));
  }
}

/** The column names of the view `traces`. */
function asData({ time_ns: _time, first_name: _name, arrived_us: _arrived, ...row }: TraceRow) {
  return row;
}
