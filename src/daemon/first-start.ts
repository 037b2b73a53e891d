/**
 * What a person reads once the daemon runs: at the very first start a key and the lines to paste into an SDK, later a
 * reminder of where to send and where to look. The key is never shown again.
 */
import { resolve } from 'node:path';
import { POSTGRES_DATABASE, type PostgresDatabase } from '../component/capabilities/postgres.ts';
import type { Capabilities } from '../component/capabilities/capability.ts';
import type { Logger } from '../component/logger.ts';
import type { Config } from '../config/config.ts';
import { Administration } from '../extensions/postgres/administration.ts';
import { findRunning } from '../extensions/postgres/embedded/visit.ts';
import type { Call } from '../cli/command.ts';
import { commandLine } from '../cli/command-line.ts';
import { findPostgresOptions } from '../cli/database.ts';
import { findEndpoint } from '../cli/endpoint.ts';
import { type Style, layOut } from '../cli/terminal.ts';

const FIRST_PROJECT = 'default';
const FIRST_LABEL = 'first start';

interface Situation {
  readonly endpoint: string;
  /** Null unless this is the first start. */
  readonly key: string | null;
  /** Whether anybody can send at all. */
  readonly keysExist: boolean;
  /** How to call Sluice again with the same configuration. */
  readonly again: (words: string) => string;
  readonly psql: string | null;
}

/** Once the database is there, which may be much later. Never fails: a daemon that serves is worth more than its greeting. */
export async function greet(call: Call, config: Config, capabilities: Capabilities, logger: Logger): Promise<void> {
  const endpoint = findEndpoint(config);
  const database = capabilities.find(POSTGRES_DATABASE);
  if (database === undefined || endpoint === null) return;
  await database.opened;
  try {
    const situation = {
      endpoint,
      again: (words: string) => commandLine(call, words),
      psql: await psqlLine(call, config),
    };
    const keys = await openFirstProject(database, config);
    call.terminal.print(describe({ ...situation, ...keys }, call.terminal.style));
  } catch (error) {
    logger.warn({ error }, 'the greeting could not be prepared');
  }
}

async function openFirstProject(
  database: PostgresDatabase,
  config: Config,
): Promise<{ readonly key: string | null; readonly keysExist: boolean }> {
  // Whoever writes keys into the configuration has projects, and wants no further key in the log.
  if (hasStaticKeys(config)) return { key: null, keysExist: true };
  const administration = new Administration(database);
  const created = await administration.createFirstProject(FIRST_PROJECT, FIRST_LABEL);
  if (created !== null) return { key: created.text, keysExist: true };
  const keys = await administration.listKeys(null);
  return { key: null, keysExist: keys.some(({ revokedAt }) => revokedAt === null) };
}

function hasStaticKeys(config: Config): boolean {
  return [...config.processors.values()].some(({ definition, options }) => {
    const { keys } = options as { readonly keys?: readonly unknown[] };
    return definition.type === 'auth' && Array.isArray(keys) && keys.length > 0;
  });
}

function describe({ endpoint, key, keysExist, again, psql }: Situation, style: Style): string {
  const places = [
    [again('demo'), 'send the telemetry of a small AI application'],
    [again('traces'), 'what arrived; then `trace ID`, `usage`'],
    ...(psql === null ? [] : [[psql, 'everything, in SQL']]),
  ].map(([line = '', what = '']) => [style.cyan(line), style.dim(what)]);
  const look = layOut(places, '    ');
  if (key === null) {
    const keys = keysExist ? '' : `\n  There is no active key yet: ${style.cyan(again('key create'))}\n`;
    return `\n  ${style.bold('Sluice is ready')}: OTLP/HTTP at ${endpoint}\n${keys}\n${look}\n`;
  }
  return [
    '',
    `  ${style.bold('Sluice is ready.')} This is its first start, so it made the project "${FIRST_PROJECT}" and a key.`,
    '  The key is shown this once:',
    '',
    `    ${style.bold(style.green(key))}`,
    '',
    '  For any OpenTelemetry SDK, in its environment:',
    '',
    `    export OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`,
    // The values of this variable are URL-encoded.
    `    export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${key}"`,
    '',
    '  Where to look:',
    '',
    look,
    '',
  ].join('\n');
}

async function psqlLine({ process }: Call, config: Config): Promise<string | null> {
  const options = findPostgresOptions(config);
  if (options === null) return null;
  if (options.url !== '') return process.env['DATABASE_URL'] === options.url ? 'psql "$DATABASE_URL"' : null;
  const quiet = { info: () => undefined, warn: () => undefined };
  const dataDir = resolve(process.cwd(), options.data_dir);
  const address = await findRunning({ dataDir, host: process, log: quiet });
  if (address === undefined) return null;
  const port = address.host.startsWith('/') ? '' : ` -p ${address.port}`;
  return `psql -h ${address.host}${port} -U ${address.user} ${address.database}`;
}
