/** `sluice tap`: what the running daemon stores and refuses now, over its local socket. */
import type { RefusedRequest } from '../component/capabilities/refused-requests.ts';
import { askTap } from '../daemon/ask.ts';
import { UserError } from '../errors.ts';
import { SIGNALS } from '../pdata/context.ts';
import type { TapEvent, TapQuestion } from '../service/telemetry/tap.ts';
import type { Call, Command } from './command.ts';
import { flagOption, limitOf, limitOption, textOption, UsageError } from './options.ts';
import { DAEMON_OPTIONS, explain, findDaemonSocket } from './running-daemon.ts';
import { recordFilter, type TappedRecord } from './tap-filter.ts';
import type { Terminal } from './terminal.ts';
import { formatBytes, formatCost, formatCount, formatTook, plural, shortId } from './view/format.ts';
import { clean, cut, escapeJson, pad } from './view/screen-text.ts';

const DEFAULT_LIMIT = 100;
const HIGHEST_LIMIT = 10_000;
const NAME_WIDTH = 32;
const PROJECT_WIDTH = 20;

export const command: Command = {
  description:
    'Prints each record that the daemon has acknowledged, after its processors, and each request that it refused,\nuntil Ctrl-C. The daemon is that of --config, or else that of this folder; it must belong to the same user.',
  options: {
    ...DAEMON_OPTIONS,
    refused: flagOption('Only refused requests'),
    signal: textOption('SIGNAL', 'Only traces, logs or metrics'),
    project: textOption('NAME', 'Only this project'),
    filter: textOption('FILTER', 'Only records that match, such as "model:gpt-5* cost:>0.05 error"'),
    limit: limitOption('The maximum number of records a second; the others are counted', DEFAULT_LIMIT),
    json: flagOption('Print the records as JSON, with content, one a line'),
  },
  examples: [
    ['sluice tap', 'what arrives, and what is refused'],
    ['sluice tap --refused', 'why nothing arrives'],
    ["sluice tap --filter 'model:gpt-5*' --json", 'whole records of some calls'],
  ],
  async run(call) {
    const question = questionOf(call);
    const filter = call.values.text('filter');
    const matches = filter === undefined ? () => true : recordFilter(filter);
    const print = call.values.flag('json') ? printJson : printText;
    const socket = await findDaemonSocket(call);
    const { terminal } = call;
    try {
      await askTap(socket, question, (line) => {
        const event = JSON.parse(line) as TapLine;
        if ('signal' in event) {
          if (matches(event)) print.record(terminal, event, line);
        } else if ('tap' in event) terminal.say('Showing what arrives; Ctrl-C ends it.');
        else if (event.kind === 'skipped') terminal.say(`… ${plural(event.records, 'further record')}`);
        else if (event.kind === 'refused') print.refused(terminal, event.request);
      });
    } catch (error) {
      throw explain(error as NodeJS.ErrnoException, socket);
    }
    throw new UserError('the daemon has ended');
  },
};

function questionOf({ values }: Call): TapQuestion {
  const word = values.text('signal');
  const signal = SIGNALS.find((each) => each === word) ?? null;
  if (word !== undefined && signal === null)
    throw new UsageError(`--signal takes ${SIGNALS.join(', ')}, not "${word}"`);
  const limit = limitOf(values, HIGHEST_LIMIT);
  return { signal, project: values.text('project') ?? null, refusedOnly: values.flag('refused'), limit };
}

type TapLine =
  | { readonly signal: string; readonly [column: string]: unknown }
  | { readonly tap: true }
  | Exclude<TapEvent, { readonly kind: 'records' }>;

const printJson = {
  refused: (terminal: Terminal, { timeMs, ...request }: RefusedRequest): void =>
    terminal.print(escapeJson(JSON.stringify({ signal: 'refused', time: new Date(timeMs).toISOString(), request }))),
  /** The line itself, because numbers of 64 bits would lose digits. */
  record: (terminal: Terminal, _record: TappedRecord, line: string): void => terminal.print(escapeJson(line)),
};

const printText = {
  refused: (
    { print, style }: Terminal,
    { timeMs, code, message, cause, signal, project, bytes, address }: RefusedRequest,
  ): void => {
    const facts = [
      signal,
      project === null ? null : `of ${project}`,
      bytes === null ? null : formatBytes(bytes),
      address === null ? null : `from ${address}`,
    ].filter((fact) => fact !== null);
    const why = cause === null ? '' : ` (${clean(cause)})`;
    print(`${clockOf(timeMs)}  ${style.red(`refused ${code}`)}  ${clean(facts.join(' '))}: ${clean(message)}${why}`);
  },
  record: ({ print, style }: Terminal, record: TappedRecord): void => {
    const place = `${textOf(record, 'project')}/${textOf(record, 'environment')}`;
    const name = textOf(record, 'name') || textOf(record, 'event_name') || textOf(record, 'severity_text');
    const facts = record['signal'] === 'span' ? spanFacts(record) : [String(record['signal'])];
    const columns = [
      timeOf(record),
      pad(cut(place, PROJECT_WIDTH), PROJECT_WIDTH),
      pad(cut(name, NAME_WIDTH), NAME_WIDTH),
    ];
    const failed = record['status'] === 'error' || record['is_error'] === true;
    const id = shortId(textOf(record, 'trace_id'));
    print([...columns, ...facts, ...(failed ? [style.red('error')] : []), style.dim(id)].join('  ').trimEnd());
  },
};

function spanFacts(record: TappedRecord): readonly string[] {
  const count = (name: string): number | null => (typeof record[name] === 'number' ? Number(record[name]) : null);
  const [input, output] = [count('input_tokens'), count('output_tokens')];
  const duration = textOf(record, 'duration_ns');
  const cost = textOf(record, 'total_cost');
  return [
    formatTook(duration === '' ? null : duration),
    ...(input === null && output === null ? [] : [`${formatCount(input)} → ${formatCount(output)}`]),
    ...(cost === '' ? [] : [formatCost(cost)]),
  ];
}

const textOf = (record: TappedRecord, name: string): string => clean(String(record[name] ?? ''));

/** When the record arrived. */
function timeOf(record: TappedRecord): string {
  const ms = Date.parse(String(record['received_at'] ?? ''));
  return clockOf(Number.isNaN(ms) ? 0 : ms);
}

/** The local time of the day. */
function clockOf(ms: number): string {
  const date = new Date(ms);
  const two = (number: number): string => String(number).padStart(2, '0');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
