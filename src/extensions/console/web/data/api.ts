/** Requests to the console's API. */
import { signal } from '@preact/signals';
import { parseExact } from '../../../../pdata/exact-json.ts';

const BASE = '/api/v1';
const JSON_TYPE = 'application/json';
export const UNREACHABLE = 'unreachable';
/** What a proxy answers while the daemon does not. */
const GATEWAY = [502, 503];

export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** A refusal of the API, or no answer at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly at: number | null;
  readonly hint: string | null;
  readonly url: string;

  constructor(status: number, url: string, error: ErrorBody) {
    super(error.message);
    this.status = status;
    this.url = url;
    this.code = error.code;
    this.at = error.at ?? null;
    this.hint = error.hint ?? null;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly at?: number | null;
  readonly hint?: string | null;
}

/** Whether the server knows the reader. Null until it answered. */
export const loggedIn = signal<boolean | null>(null);
/** What is unavailable, and since when; null while both answer. */
export const unavailable = signal<{ readonly what: 'daemon' | 'database'; readonly sinceMs: number } | null>(null);

function noteAway(what: 'daemon' | 'database'): void {
  if (unavailable.value?.what !== what) unavailable.value = { what, sinceMs: unavailable.value?.sinceMs ?? Date.now() };
}

export function urlOf(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return `${BASE}${path}${text === '' ? '' : `?${text}`}`;
}

/** The path of a project's resource; every part is encoded. */
export const projectPath = (project: string, ...parts: readonly string[]): string =>
  `/projects/${[project, ...parts].map(encodeURIComponent).join('/')}`;

export async function request(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, credentials: 'same-origin', redirect: 'error' });
  } catch (failure) {
    if (init.signal?.aborted === true) throw failure;
    noteAway('daemon');
    throw new ApiError(0, url, { code: UNREACHABLE, message: 'the daemon does not answer' });
  }
  if (response.ok) {
    unavailable.value = null;
    return response;
  }
  const error = await errorOf(response);
  if (response.status === 401 && error.code !== 'link_invalid') loggedIn.value = false;
  if (error.code === 'database_unavailable') noteAway('database');
  else if (error.code === UNREACHABLE) noteAway('daemon');
  else unavailable.value = null;
  throw new ApiError(response.status, url, error);
}

async function errorOf(response: Response): Promise<ErrorBody> {
  try {
    const body = (await response.json()) as { error?: ErrorBody };
    if (body.error !== undefined) return body.error;
  } catch {
    // A proxy in between may send any answer.
  }
  const { status } = response;
  return { code: GATEWAY.includes(status) ? UNREACHABLE : `http_${status}`, message: `the server answered ${status}` };
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const response = await request(urlOf(path, query), {
    headers: { accept: JSON_TYPE },
    ...(signal === undefined ? {} : { signal }),
  });
  return parseExact(await response.text()) as T;
}

export async function send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T> {
  const response = await request(urlOf(path), {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': JSON_TYPE }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return (text === '' ? {} : parseExact(text)) as T;
}

/** Reads NDJSON as it arrives. Resolves when the stream ends. */
export async function readLines(
  path: string,
  query: Query,
  onLines: (lines: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await request(urlOf(path, query), { signal });
  const reader = (response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>()).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const lines = rest.split('\n');
    rest = done ? '' : (lines.pop() ?? '');
    const whole = lines.filter((line) => line !== '');
    if (whole.length > 0) onLines(whole);
    if (done) return;
  }
}

/** The request as a line for a shell; the cookie stays in the browser. */
export function curlOf(url: string): string {
  const quoted = `${location.origin}${url}`.replaceAll("'", "'\\''");
  return `curl -H "Authorization: Bearer $SLUICE_READ_TOKEN" '${quoted}'`;
}
