/** `sluice outbox …`: requests that wait to be forwarded, and dead letters. */
import { UserError } from '../errors.ts';
import {
  type DestinationRow,
  type EntryRow,
  OutboxInspection,
  type Selection,
} from '../extensions/postgres/outbox/inspection.ts';
import { requestAsJson } from '../exporters/otlp-http/request-json.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { formatAge, formatCount, plural, UNKNOWN } from './view/format.ts';
import { flagOption, limitOf, limitOption, onlyWord, textOption, UsageError } from './options.ts';
import { asJson, cut } from './view/screen-text.ts';
import { layOut } from './terminal.ts';

const DEFAULT_LIMIT = 20;
const HIGHEST_LIMIT = 10000;
const ERROR_WIDTH = 60;
const JSON_OPTION = { json: flagOption('Print JSON') };
const DESTINATION = textOption('NAME', 'The id of an exporter', { short: 'd' });

export const commands: Readonly<Record<string, Command>> = {
  list: {
    options: { ...CONFIG_OPTIONS, ...JSON_OPTION },
    examples: [['sluice outbox list', 'list them']],
    run: (call) =>
      withDatabase(call, 'read', async (database) => {
        const rows = await new OutboxInspection(database).destinations();
        call.terminal.print(call.values.flag('json') ? asJson(rows) : destinationTable(rows, Date.now()));
      }),
  },
  dead: {
    options: {
      ...CONFIG_OPTIONS,
      destination: DESTINATION,
      limit: limitOption('The maximum number of lines', DEFAULT_LIMIT),
      ...JSON_OPTION,
    },
    examples: [['sluice outbox dead --destination otlp_http', 'those of one exporter']],
    run: async (call) => {
      const limit = limitOf(call.values, HIGHEST_LIMIT);
      return withDatabase(call, 'read', async (database) => {
        const rows = await new OutboxInspection(database).deadLetters(call.values.text('destination') ?? null, limit);
        call.terminal.print(call.values.flag('json') ? asJson(rows) : deadTable(rows, Date.now()));
      });
    },
  },
  show: {
    options: { ...CONFIG_OPTIONS, ...JSON_OPTION },
    examples: [['sluice outbox show 4711', 'by its number, as in `sluice outbox dead`']],
    run: (call) =>
      withDatabase(call, 'read', async (database) => {
        const sequence = sequenceOf(call);
        const found = await new OutboxInspection(database).find(sequence);
        if (found === null) throw unknown(sequence);
        const { entry, body } = found;
        const request: unknown = JSON.parse(requestAsJson(entry.signal, body).toString());
        if (call.values.flag('json')) call.terminal.print(asJson({ ...entry, body: request }));
        else call.terminal.print(`${describe(entry)}\n\n${asJson(request)}`);
      }),
  },
  replay: {
    options: { ...CONFIG_OPTIONS, destination: DESTINATION },
    examples: [
      ['sluice outbox replay 4711', 'one of them'],
      ['sluice outbox replay --destination otlp_http', 'all of one exporter'],
    ],
    run: (call) =>
      withDatabase(call, 'write', async (database) => {
        const selection = selectionOf(call);
        const count = await new OutboxInspection(database).replay(selection);
        if (count === 0 && 'sequence' in selection)
          throw new UserError(`there is no dead letter ${selection.sequence}`, 'See `sluice outbox dead`.');
        call.terminal.print(`${plural(count, 'request')} will be sent again.`);
      }),
  },
  drop: {
    options: {
      ...CONFIG_OPTIONS,
      destination: DESTINATION,
      waiting: flagOption('With --destination: waiting requests too, not only dead letters'),
    },
    examples: [
      ['sluice outbox drop 4711', 'one request, waiting or a dead letter'],
      ['sluice outbox drop --destination otlp_http', 'all dead letters of one exporter'],
      ['sluice outbox drop --destination otlp_http/old --waiting', 'all requests of one exporter'],
    ],
    run: (call) =>
      withDatabase(call, 'write', async (database) => {
        const selection = selectionOf(call);
        const all = 'sequence' in selection || call.values.flag('waiting');
        const count = await new OutboxInspection(database).drop(selection, all ? null : 'dead');
        if (count === 0 && 'sequence' in selection) throw unknown(selection.sequence);
        call.terminal.print(`${plural(count, 'request')} removed.`);
      }),
  },
};

function selectionOf(call: Call): Selection {
  const destination = call.values.text('destination');
  const [word] = call.words;
  if ((word === undefined) === (destination === undefined))
    throw new UsageError('name one request, or a destination', 'see `sluice outbox list` and `sluice outbox dead`');
  return destination === undefined ? { sequence: sequenceOf(call) } : { destination };
}

function sequenceOf(call: Call): string {
  const word = onlyWord(call, 'SEQUENCE');
  if (!/^\d{1,18}$/u.test(word)) throw new UsageError(`"${word}" is not the number of a request`);
  return word;
}

const unknown = (sequence: string): UserError =>
  new UserError(`there is no request ${sequence} in the outbox`, 'It may have been sent. See `sluice outbox dead`.');

function destinationTable(rows: readonly DestinationRow[], nowMs: number): string {
  if (rows.length === 0) return 'The outbox is empty.';
  const cells = rows.map((row) => [
    row.destination,
    String(row.waiting),
    formatCount(row.waitingBytes),
    row.oldestAt === null ? UNKNOWN : formatAge(nowMs - row.oldestAt.getTime()),
    String(row.dead),
    nextOf(row, nowMs),
    row.lastError === null ? '' : cut(row.lastError, ERROR_WIDTH),
  ]);
  return layOut([['DESTINATION', 'WAITING', 'BYTES', 'OLDEST', 'DEAD', 'NEXT ATTEMPT', 'LAST ERROR'], ...cells]);
}

function nextOf({ attempts, nextAttemptAt }: DestinationRow, nowMs: number): string {
  if (attempts === null) return UNKNOWN;
  if (nextAttemptAt === null || nextAttemptAt.getTime() <= nowMs) return 'now';
  return `in ${formatAge(nextAttemptAt.getTime() - nowMs)}, after ${plural(attempts, 'failure')}`;
}

function deadTable(rows: readonly EntryRow[], nowMs: number): string {
  if (rows.length === 0) return 'There are no dead letters.';
  const cells = rows.map((row) => [
    row.sequence,
    row.destination,
    row.signal,
    row.project,
    String(row.records),
    row.deadAt === null ? UNKNOWN : formatAge(nowMs - row.deadAt.getTime()),
    cut(row.lastError ?? '', ERROR_WIDTH),
  ]);
  return layOut([['SEQUENCE', 'DESTINATION', 'SIGNAL', 'PROJECT', 'RECORDS', 'AGE', 'ANSWER'], ...cells]);
}

function describe(entry: EntryRow): string {
  return layOut([
    ['destination', entry.destination],
    ['state', entry.state],
    ['project', entry.project],
    ['records', `${entry.records} (${entry.signal})`],
    ['bytes', String(entry.bytes)],
    ['made', entry.enqueuedAt.toISOString()],
    ['attempts', String(entry.attempts)],
    ['answer', cut(entry.lastError ?? UNKNOWN, 500)],
  ]);
}
