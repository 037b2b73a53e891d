/**
 * Answers requests of the console for archived days: paths of the API, a line for each line of the input, by the
 * handlers of the console over the loaded rows.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ColumnChoice } from '../archive/reading/column-choice.ts';
import type { PostgresReader } from '../component/capabilities/postgres-reader.ts';
import { Administration } from '../extensions/postgres/administration.ts';
import type { Database } from '../extensions/postgres/database.ts';
import { PostgresPeople } from '../extensions/postgres/people.ts';
import { DatabaseApi } from '../extensions/console/mcp/database-api.ts';
import { ConsoleError } from '../extensions/console/errors.ts';
import { ApiFault } from '../extensions/console/mcp/tool.ts';
import type { ArchivedAnswer, ArchivedQuestion, WholeReply } from '../extensions/console/server/archive-readers.ts';
import type { Reply } from '../extensions/console/server/route.ts';
import { textOf } from '../extensions/console/server/sending.ts';
import type { Call, ExitCode } from './command.ts';
import { type Lake, type Unread, withLake } from './lake.ts';
import { type Reader, rowsByCursor, withReader } from './reader.ts';

const BY = { id: null, name: 'the console' } as const;
/** Of a reply. Larger ones are for the commands. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Compressed bytes of objects that are read for an answer, so that it comes in time. */
const MOST_PART_BYTES = 32 * 1024 * 1024;

export interface ArchivedWork {
  readonly columns: ColumnChoice;
  /** Loads what the questions need. Returns the time from which on it is loaded, in nanoseconds; null: it has none. */
  load(lake: Lake): Promise<bigint | null>;
}

/** Until the input ends. */
export const serveArchived = (call: Call, { columns, load }: ArchivedWork): Promise<ExitCode> =>
  withReader(call, (reader, database) =>
    withLake<ExitCode>(call, reader, { columns, mostPartBytes: MOST_PART_BYTES }, async (lake) => {
      const { stdin, stdout } = call.process;
      if (lake === null) await reader.query('BEGIN READ ONLY');
      const archivedFrom = lake === null ? null : latestOf(await load(lake), lake.leftNs);
      const serving = { database, reader: cursorReader(lake?.reader ?? reader), archivedFrom };
      for await (const line of createInterface({ input: stdin })) {
        const question = JSON.parse(line) as ArchivedQuestion;
        const unread = lake?.unread ?? null;
        const answer = unread === null ? await answerOf(serving, question) : refusalOf(unread);
        if (!stdout.write(`${JSON.stringify(answer)}\n`)) await once(stdout, 'drain');
      }
      return 0;
    }),
  );

const latestOf = (a: bigint | null, b: bigint | null): bigint | null => (a === null || (b !== null && b > a) ? b : a);

const refusalOf = ({ why, hint }: Unread): ArchivedAnswer => ({
  refusal: {
    code: 'archive_unavailable',
    message: `The archive, which may have what is asked for, cannot be read: ${why}.`,
    hint,
  },
});

interface Serving {
  readonly database: Database;
  readonly reader: PostgresReader;
  readonly archivedFrom: bigint | null;
}

/** Rejects for a fault that may have ended the transaction. */
async function answerOf(
  { database, reader, archivedFrom }: Serving,
  { path, headers, projects, seesContent }: ArchivedQuestion,
): Promise<ArchivedAnswer> {
  const administration = new Administration(database, BY);
  const people = new PostgresPeople(database);
  const api = new DatabaseApi({ reader, administration, people, projects, seesContent, archivedFrom });
  try {
    return { reply: await api.reply(path, wholeOf, headers) };
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    const { code, message, hint } = error;
    return { refusal: { code, message, hint } };
  }
}

async function wholeOf(reply: Reply): Promise<WholeReply> {
  const { kind, status = 200 } = reply;
  switch (kind) {
    case 'lines':
      return { kind, status, text: (await bytesOf(reply.pieces)).toString() };
    case 'download': {
      const { name, type, pieces } = reply;
      return { kind, status, text: (await bytesOf(pieces)).toString('base64'), name, type };
    }
    case 'bytes':
      return { kind, status, text: (await bytesOf([reply.bytes])).toString('base64'), type: reply.type };
    default: {
      const text = await textOf(reply);
      if (text.length > MOST_BYTES) throw tooLarge();
      return { kind: kind === 'text' ? 'text' : 'json_text', status, text };
    }
  }
}

type Pieces = AsyncIterable<string | Uint8Array> | Iterable<Uint8Array>;

async function bytesOf(pieces: Pieces): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    const chunk = Buffer.from(piece as Uint8Array);
    size += chunk.length;
    if (size > MOST_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const tooLarge = (): ConsoleError =>
  new ConsoleError('request_invalid', {
    message: `The answer has more than ${MOST_BYTES / 2 ** 20} MiB, which is too much of archived days at once.`,
    hint: 'Read it with `sluice trace` or `sluice export`.',
  });

/** Within a transaction. A question that is asked during another one waits for its end. */
function cursorReader(reader: Reader): PostgresReader {
  let last: Promise<unknown> = Promise.resolve();
  const query: PostgresReader['query'] = (text, values) => {
    const rows = last.then(() => reader.query(text, values));
    last = rows.catch(() => undefined);
    return rows;
  };
  return {
    views: reader.views,
    query,
    prepared: query,
    stream: (text, values = []) => rowsByCursor(reader, 'answer', { text, values }),
  };
}
