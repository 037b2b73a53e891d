/** A daemon on Postgres that forwards to a remote, and the helpers of its tests. */
import { ask } from '../../support/connection.ts';
import { type Daemon, startDaemon } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { createDatabase } from '../../support/postgres.ts';
import { postgresConfig, SERVED } from '../../support/postgres-daemon.ts';

export interface Forwarder extends Daemon {
  readonly databaseUrl: string;
  query(text: string): Promise<readonly Record<string, unknown>[]>;
}

export interface ForwarderOptions {
  /** Options of `otlp_http`, in flow style, without the endpoint. */
  readonly options?: string;
  readonly databaseUrl?: string;
  readonly processors?: string;
  /** The exporters of the pipelines; default: `postgres, otlp_http`. */
  readonly exporters?: string;
  /** Definitions of further processors. */
  readonly definitions?: string;
  readonly now?: () => number;
}

/** Retries almost at once, so that tests do not wait. */
export const HASTY = 'retry_on_failure: { initial_interval: 1ms, max_interval: 1ms }';

export const forwarderConfig = (endpoint: string, databaseUrl: string, options: ForwarderOptions = {}): string =>
  postgresConfig({ databaseUrl, exporters: 'postgres, otlp_http', ...options })
    .replace('exporters: {', `exporters: { otlp_http: { endpoint: "${endpoint}", ${options.options ?? HASTY} },`)
    .replace('  environment: {}', `  environment: {}\n${options.definitions ?? ''}`);

export async function startForwarder(
  t: Parameters<typeof startDaemon>[0],
  endpoint: string,
  options: ForwarderOptions = {},
): Promise<Forwarder> {
  const databaseUrl = options.databaseUrl ?? (await createDatabase(t, SERVED)).url;
  const config = forwarderConfig(endpoint, databaseUrl, options);
  const daemon = await startDaemon(t, { config, ...(options.now === undefined ? {} : { now: options.now }) });
  return { ...daemon, databaseUrl, query: (text) => ask(databaseUrl, text) };
}

/** Sends one span and returns the status of the answer. */
export async function sendSpan(url: string, name: string): Promise<number> {
  return (await send(url, { body: JSON.stringify(aTraceRequest([aSpan({ name })])) })).status;
}
