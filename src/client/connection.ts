/** The address and the key: from the options, else from the environment. */
import { diag } from '@opentelemetry/api';

export interface ConnectionOptions {
  /**
   * The project's API key. Default: `SLUICE_KEY`, else the bearer token of `OTEL_EXPORTER_OTLP_HEADERS`. Keep it on the
   * server side.
   */
  readonly key?: string | undefined;
  /**
   * The base URL, without `/v1/…`. Default: `SLUICE_ENDPOINT`, else `OTEL_EXPORTER_OTLP_ENDPOINT`, else
   * `http://127.0.0.1:4318`.
   */
  readonly endpoint?: string | undefined;
}

export interface Connection {
  readonly key: string;
  readonly endpoint: URL;
}

/** Why nothing can be sent. */
export interface Unusable {
  readonly problem: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_ENDPOINT = 'http://127.0.0.1:4318';
const NO_KEY = 'there is no API key; set SLUICE_KEY, or pass the option `key`';
const BAD_KEY = 'the key holds a space or other characters that no key has; give it without "Bearer"';
/** What a header can carry, without spaces. */
const KEY_PATTERN = /^[\x21-\x7e]+$/u;

/** The connection, or the reason why nothing can be sent. */
export function findConnection(options: ConnectionOptions, env: Environment = process.env): Connection | Unusable {
  const key = firstFilled(options.key, env['SLUICE_KEY'], bearerOf(env['OTEL_EXPORTER_OTLP_HEADERS']));
  if (key === undefined) return { problem: NO_KEY };
  if (!KEY_PATTERN.test(key)) return { problem: BAD_KEY };
  const text =
    firstFilled(options.endpoint, env['SLUICE_ENDPOINT'], env['OTEL_EXPORTER_OTLP_ENDPOINT']) ?? DEFAULT_ENDPOINT;
  const endpoint = URL.canParse(text) ? new URL(text) : undefined;
  if (endpoint === undefined || !/^https?:$/u.test(endpoint.protocol)) {
    return { problem: `the endpoint "${text}" is not a URL that begins with http:// or https://` };
  }
  return { key, endpoint };
}

/**
 * Undefined when nothing can be sent. A mistake in the options is reported and does not throw: telemetry must not end
 * an application. A missing key is no mistake.
 */
export function connectionOf(options: ConnectionOptions): Connection | undefined {
  const found = findConnection(options);
  if (!('problem' in found)) return found;
  if (found.problem !== NO_KEY) diag.error(`sluice: nothing is sent: ${found.problem}`);
  return undefined;
}

/** `{endpoint}/v1/{signal}`. Parts of the URL other than the path are not sent. */
export function urlOf({ endpoint }: Connection, signal: string): URL {
  return new URL(`${endpoint.origin}${endpoint.pathname.replace(/\/+$/u, '')}/v1/${signal}`);
}

function firstFilled(...values: readonly (string | undefined)[]): string | undefined {
  return values.map((value) => value?.trim()).find((value) => value !== undefined && value !== '');
}

/** The bearer token of a list as `Authorization=Bearer%20…,other=…`: the values are URL-encoded. */
function bearerOf(headers: string | undefined): string | undefined {
  for (const pair of (headers ?? '').split(',')) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at).trim().toLowerCase() !== 'authorization') continue;
    return /^Bearer (.+)$/u.exec(decoded(pair.slice(at + 1).trim()))?.[1];
  }
  return undefined;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
