/** A whole service on its own database, with queries to that database. */
import { ask } from './connection.ts';
import { type Daemon, STATIC_KEYS, startDaemon } from './daemon.ts';
import { createDatabase, type Template } from './postgres.ts';

export interface PostgresDaemon extends Daemon {
  readonly databaseUrl: string;
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
}

export interface PostgresDaemonOptions {
  /** An existing database, for a second daemon on it. */
  readonly databaseUrl?: string;
  readonly processors?: string;
  readonly exporters?: string;
  /** Definitions of further exporters, as YAML. */
  readonly moreExporters?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The test server runs without fsync, which the extension refuses by default. */
export const postgresConfig = (options: PostgresDaemonOptions): string => `
extensions: { postgres: { url: "${options.databaseUrl}", allow_unsafe: true } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors:
  auth:
    keys:
${STATIC_KEYS}
  environment: {}${(options.processors ?? '').includes('normalization') ? '\n  normalization: {}' : ''}
exporters: { postgres: {}, file: { path: "{folder}/out.ndjson" }${options.moreExporters === undefined ? '' : `, ${options.moreExporters}`} }
service:
  extensions: [postgres]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: &pipeline { receivers: [otlp], processors: [${options.processors ?? 'auth, environment'}], exporters: [${options.exporters ?? 'postgres'}] }
    logs: *pipeline
    metrics: *pipeline
`;

/** The content after the first start of a daemon. Making the schema and its partitions takes most of that start. */
export const SERVED: Template = {
  name: 'served',
  prepare: async (url) => {
    const ends: (() => Promise<void>)[] = [];
    await startDaemon({ teardown: (end) => ends.push(end) }, { config: postgresConfig({ databaseUrl: url }) });
    for (const end of ends) await end();
  },
};

export async function startPostgresDaemon(
  t: Parameters<typeof startDaemon>[0],
  options: PostgresDaemonOptions = {},
): Promise<PostgresDaemon> {
  const databaseUrl = options.databaseUrl ?? (await createDatabase(t, SERVED)).url;
  const config = postgresConfig({ ...options, databaseUrl });
  const daemon = await startDaemon(t, options.env === undefined ? { config } : { config, env: options.env });
  return { ...daemon, databaseUrl, query: (text, values) => ask(databaseUrl, text, values) };
}
