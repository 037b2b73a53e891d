/** `sluice move --to URL`: copies everything into another database, from the embedded server to your own or back. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { type Address, Database } from '../extensions/postgres/database.ts';
import { describeDatabase, faultOfUrl } from '../extensions/postgres/database-url.ts';
import { checkRequirements } from '../extensions/postgres/first-contact.ts';
import type { PostgresOptions } from '../extensions/postgres/options.ts';
import { readSchemaState, UNFINISHED_MOVE } from '../extensions/postgres/schema-state.ts';
import { move, undoMove } from '../extensions/postgres/transfer/move.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { hasCluster, migrate, placeOf, startServer, withDatabase } from './database.ts';
import { flagOption, textOption, UsageError } from './options.ts';
import { formatCount } from './view/format.ts';
import { progressLines } from './view/progress.ts';

/** Before the folder of an embedded server. */
const EMBEDDED = 'embedded:';
/** Also the folder of a server's socket, as in the configuration. */
const IS_URL = /^(?:postgres(?:ql)?:\/\/|socket:|\/)/u;
/** A text without a password. */
const IS_NAME = /^[\w./~-]+$/u;

export const command: Command = {
  description:
    'Stop all daemons first. Copies everything from the database of the configuration into an empty one, and verifies the\nnumber of rows. An interrupted move continues when the same command is run again. Afterwards no version writes to the\nformer database, until --undo; it is not changed otherwise.',
  options: {
    ...CONFIG_OPTIONS,
    to: textOption('URL', 'The target: postgres://…, or embedded:DIR for a data_dir'),
    undo: flagOption('Use the database of the configuration again, after a move away from it'),
  },
  examples: [
    ['sluice move --to postgres://sluice:secret@db.internal/sluice', 'from the embedded server to your own'],
    ['DATABASE_URL=postgres://… sluice move --to embedded:./data', 'back into the folder of an embedded server'],
    ['sluice move --undo', 'keep using the former database'],
  ],
  run: async (call) => {
    const to = call.values.text('to');
    if ((to === undefined) !== call.values.flag('undo'))
      throw new UsageError('name the target', 'as --to postgres://… or --to embedded:DIR');
    if (to !== undefined) checkTarget(call, to);
    return withDatabase(call, 'own', async (source, { options }) =>
      to === undefined ? undo(call, source) : moveTo(call, { source, to, options }),
    );
  },
};

/** Called before a database is opened. Throws a `UsageError`, which repeats no URL: that may have a password. */
function checkTarget(call: Call, to: string): void {
  if (to.startsWith(EMBEDDED)) {
    if (to.length > EMBEDDED.length) return;
    throw new UsageError('--to embedded: names no folder', `Write the folder after the colon: --to ${EMBEDDED}./data`);
  }
  if (IS_URL.test(to)) {
    const fault = faultOfUrl(to);
    if (fault !== null) throw new UsageError(`the URL of --to cannot be used: ${fault.message}`, fault.hint);
    return;
  }
  const named = IS_NAME.test(to) ? ` "${to}"` : '';
  const isFolder = named !== '' && existsSync(resolve(call.process.cwd(), to));
  throw new UsageError(
    `--to${named} is no target: it begins neither with postgres:// nor with ${EMBEDDED}`,
    isFolder
      ? `For the embedded server in this folder write --to ${EMBEDDED}${to}`
      : `Write --to postgres://user:password@host:5432/database for a server, or --to ${EMBEDDED}DIR for the folder of an embedded one.`,
  );
}

async function undo({ terminal }: Call, database: Database): Promise<void> {
  if (!(await undoMove(database))) throw new UserError('the data of this database was not moved away');
  terminal.print('Daemons can use this database again.');
}

interface Moving {
  readonly source: Database;
  readonly to: string;
  readonly options: PostgresOptions;
}

async function moveTo(call: Call, { source, to, options }: Moving): Promise<void> {
  const target = new Database();
  const folder = to.startsWith(EMBEDDED) ? folderOf(call, to) : null;
  let address: Address = { connectionString: to };
  let stop = async (): Promise<void> => undefined;
  const open = async (): Promise<Database> => {
    if (folder !== null) ({ address, stop } = await startServer(call, placeOf(call, folder)));
    if (!(await isUnfinished(address))) await checkRequirements(address, options);
    return target.use(address);
  };
  try {
    const report = progressLines((text) => call.terminal.say(text));
    const { rows, kept } = await move(source, { isNew: folder !== null && !hasCluster(folder), open }, report);
    await migrate(call, address, options);
    if (kept > 0) call.terminal.say(`Tables and partitions that an earlier attempt had copied: ${kept}`);
    call.terminal.print(`Moved ${formatCount(rows)} rows. ${nextStep(call, to)}`);
  } finally {
    await target.close();
    await stop();
  }
}

/** On connections of its own, which end before the target is searched for other sessions. */
async function isUnfinished(address: Address): Promise<boolean> {
  const database = new Database().use(address);
  try {
    return (await readSchemaState((text) => database.query(text))).unknown.includes(UNFINISHED_MOVE);
  } finally {
    await database.close();
  }
}

const folderOf = ({ process }: Call, to: string): string => resolve(process.cwd(), to.slice(EMBEDDED.length));

function nextStep(call: Call, to: string): string {
  const setting = to.startsWith(EMBEDDED)
    ? `extensions.postgres.data_dir to ${folderOf(call, to)}, without a url`
    : `extensions.postgres.url to ${describeDatabase(to)}`;
  return `Set ${setting} and start the daemon. Remove the former database when the new one is verified.`;
}
