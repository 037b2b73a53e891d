/**
 * Answers requests of the console for archived days: paths of the API, a line for each line of the input, by the
 * handlers of the console over the loaded rows.
 */
import { once } from 'node:events';
import type { ColumnChoice } from '../../archive/reading/column-choice.ts';
import type { LeftOut } from '../../archive/reading/left-out.ts';
import { UserError } from '../../errors.ts';
import { diskRemedy } from '../../component/disk-remedy.ts';
import { StoreError } from '../../object-store/object-store.ts';
import { linesOf } from '../../component/lines.ts';
import type { PostgresReader } from '../../component/capabilities/postgres-reader.ts';
import { Administration } from '../../extensions/postgres/administration.ts';
import type { Database } from '../../extensions/postgres/database.ts';
import { PostgresPeople } from '../../extensions/postgres/people.ts';
import { DatabaseApi } from '../../extensions/console/mcp/database-api.ts';
import { ConsoleError } from '../../extensions/console/errors.ts';
import { ApiFault } from '../../extensions/console/mcp/tool.ts';
import type { ArchivedAnswer, ArchivedQuestion, WholeReply } from '../../extensions/console/server/archive-readers.ts';
import type { LeftOutFiles, Reply } from '../../extensions/console/server/route.ts';
import { textOf } from '../../extensions/console/server/sending.ts';
import type { Call } from '../command.ts';
import { type Lake, type Unread, withReadableLake } from './lake.ts';
import { type Reader, rowsByCursor, withReader } from '../reader.ts';
import { plural } from '../view/format.ts';

const BY = { id: null, name: 'the console' } as const;
/** The limit of a reply. Larger ones are for the commands. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Compressed bytes of objects that are read for an answer, so that it comes in time. */
const MOST_PART_BYTES = 32 * 1024 * 1024;
const BRING_BACK = 'Bring the file back; docs/archive.md says what to do when it is lost.';

export interface ArchivedWork {
  readonly columns: ColumnChoice;
  /**
   * Loads what the requests need, of which the first one is given. Returns the time from which on it is loaded, in
   * nanoseconds; null: it has none.
   */
  load(lake: Lake, first: ArchivedQuestion): Promise<bigint | null>;
}

/** Until the input ends. */
export const serveArchived = (call: Call, { columns, load }: ArchivedWork): Promise<void> =>
  withReader(call, (reader, database) =>
    withReadableLake(call, reader, { columns, mostPartBytes: MOST_PART_BYTES }, async (lake) => {
      const { stdin, stdout } = call.process;
      if (lake === null) await reader.query('BEGIN READ ONLY');
      let serving: Serving | Failure | null = null;
      for await (const line of linesOf(stdin)) {
        const question = JSON.parse(line) as ArchivedQuestion;
        serving ??= await begin({ database, reader, lake }, () => (lake === null ? null : load(lake, question)));
        const answer = await answerOf(serving, lake?.unread ?? null, question);
        if (!stdout.write(`${JSON.stringify(answer)}\n`)) await once(stdout, 'drain');
      }
    }),
  );

async function begin(
  { database, reader, lake }: { readonly database: Database; readonly reader: Reader; readonly lake: Lake | null },
  load: () => Promise<bigint | null> | null,
): Promise<Serving | Failure> {
  try {
    const loaded = await load();
    return {
      database,
      reader: cursorReader(lake?.reader ?? reader),
      archivedFrom: latestOf(loaded, lake?.leftNs ?? null),
      leftOut: leftOutOf(lake?.leftOut ?? []),
    };
  } catch (error) {
    return failureOf(error);
  }
}

/** The archived rows could not be loaded. */
class Failure implements Unread {
  readonly why: string;
  readonly hint: string;

  constructor({ message }: Error, hint: string | null) {
    this.why = message;
    this.hint = hint ?? 'Try again soon. The log of the daemon has more.';
  }
}

/** The failure of the store, or of something that the operator can correct. Others are thrown. */
function failureOf(error: unknown): Failure {
  if (error instanceof StoreError) return new Failure(error, diskRemedy(error) ?? null);
  if (error instanceof UserError) return new Failure(error, error.hint);
  throw error;
}

const latestOf = (a: bigint | null, b: bigint | null): bigint | null => (a === null || (b !== null && b > a) ? b : a);

function leftOutOf(files: readonly LeftOut[]): LeftOutFiles | null {
  const [first, ...others] = files;
  if (first === undefined) return null;
  const more = others.length === 0 ? '' : `, and ${plural(others.length, 'other file')}`;
  const untilNs = files.reduce((latest, file) => (file.untilNs > latest ? file.untilNs : latest), first.untilNs);
  return { untilNs, why: `The archive cannot read ${first.name}: ${first.reason}${more}.` };
}

const refusalOf = ({ why, hint }: Unread): ArchivedAnswer => ({
  refusal: {
    code: 'archive_unavailable',
    message: `The archive, which may have what is asked for, cannot be read: ${why.replace(/\.$/u, '')}.`,
    hint,
  },
});

interface Serving {
  readonly database: Database;
  readonly reader: PostgresReader;
  readonly archivedFrom: bigint | null;
  readonly leftOut: LeftOutFiles | null;
}

/** Rejects for a fault that may have ended the transaction. */
async function answerOf(
  serving: Serving | Failure,
  unread: Unread | null,
  { path, headers, projects, seesContent }: ArchivedQuestion,
): Promise<ArchivedAnswer> {
  if (serving instanceof Failure) return refusalOf(serving);
  if (unread !== null) return refusalOf(unread);
  const { database, reader, archivedFrom, leftOut } = serving;
  const administration = new Administration(database, BY);
  const people = new PostgresPeople(database);
  const api = new DatabaseApi({ reader, administration, people, projects, seesContent, archivedFrom, leftOut });
  const left = leftOut === null ? {} : { left_out: leftOut.why };
  try {
    return { reply: await api.reply(path, wholeOf, headers), ...left };
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    // The record may be in a file that is left out.
    if (error.code === 'not_found' && leftOut !== null) return refusalOf({ why: leftOut.why, hint: BRING_BACK });
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
