/**
 * CORS: pages of other origins may send. Browsers send a preflight first, and read an answer only when it names their
 * origin. API keys are sent in a header and never in cookies, so credentials in the sense of CORS are never allowed.
 */
import type { IncomingMessage } from 'node:http';
import { literalPattern } from '../../pdata/literal-pattern.ts';
import { DAY_MS } from '../../pdata/time-units.ts';

export interface CorsOptions {
  readonly allowed_origins: readonly string[];
  readonly allowed_headers: readonly string[];
  /** Milliseconds. */
  readonly max_age: number;
}

type Headers = Readonly<Record<string, string>>;

const ANY = '*';
/** Headers that every OTLP request may have. */
const OWN_HEADERS = ['authorization', 'content-encoding', 'content-type'];
const EXPOSED_HEADERS = 'Retry-After, RateLimit-Limit, RateLimit-Reset, Sunset';
/** A wildcard matches any part of a host name and a port. */
const WILDCARD = '[A-Za-z0-9.:-]+';
/** A list of header names of usual length. Other values are not echoed to the client. */
const HEADER_LIST = /^[\w!#$%&'*+.^`|~, -]{1,1000}$/u;
const NOTHING: Headers = {};

export const CORS_SCHEMA = {
  type: 'object',
  description: 'Which web pages may send. Without it: none.',
  additionalProperties: false,
  required: ['allowed_origins'],
  properties: {
    allowed_origins: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        type: 'string',
        // Browsers send a host name in ASCII.
        pattern: '^(?=[!-~]+$)(?:\\*|[a-z][a-z0-9+.-]*://[^/*]*\\*?[^/*]*)$',
        maxLength: 300,
        description: 'For example https://app.example.com, https://*.example.com, http://localhost:* or *.',
      },
      description: 'The origins of pages that may send. `*` in an origin matches any part of its host and port.',
    },
    allowed_headers: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'string',
        pattern: "^(?:\\*|[A-Za-z0-9!#$%&'+.^_`|~-]+)$",
        description: 'A name, or `*` for all.',
      },
      default: [],
      description: 'Headers that a page may send in addition to Authorization, Content-Type and Content-Encoding.',
    },
    max_age: {
      type: 'integer',
      format: 'duration',
      minimum: 0,
      maximum: DAY_MS,
      default: '2h',
      description: 'How long a browser may cache the answer to a preflight.',
    },
  },
} as const;

export class Cors {
  readonly #any: boolean;
  readonly #origins: readonly RegExp[];
  readonly #anyHeader: boolean;
  readonly #headers: string;
  readonly #maxAge: string;

  constructor(options: CorsOptions) {
    this.#any = options.allowed_origins.includes(ANY);
    this.#origins = options.allowed_origins.map(patternOf);
    this.#anyHeader = options.allowed_headers.includes(ANY);
    this.#headers = [...new Set([...OWN_HEADERS, ...options.allowed_headers.map((name) => name.toLowerCase())])].join(
      ', ',
    );
    this.#maxAge = String(Math.floor(options.max_age / 1000));
  }

  /** Whether the request is a preflight. */
  isPreflight({ method, headers }: IncomingMessage): boolean {
    return (
      method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
    );
  }

  /** The headers of the answer to a preflight. Without Access-Control-Allow-Origin the browser does not send. */
  preflight(request: IncomingMessage): Headers {
    const vary = { Vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers' };
    const origin = this.#allowed(request);
    if (origin === null) return vary;
    const wanted = String(request.headers['access-control-request-headers'] ?? '');
    return {
      ...vary,
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': this.#anyHeader && HEADER_LIST.test(wanted) ? wanted : this.#headers,
      'Access-Control-Max-Age': this.#maxAge,
    };
  }

  /** The headers with which the page can read an answer. */
  headersFor(request: IncomingMessage): Headers {
    if (request.headers.origin === undefined) return this.#any ? NOTHING : { Vary: 'Origin' };
    const origin = this.#allowed(request);
    if (origin === null) return { Vary: 'Origin' };
    const headers = { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS };
    return origin === ANY ? headers : { ...headers, Vary: 'Origin' };
  }

  #allowed({ headers: { origin } }: IncomingMessage): string | null {
    if (origin === undefined) return null;
    if (this.#any) return ANY;
    return this.#origins.some((pattern) => pattern.test(origin)) ? origin : null;
  }
}

function patternOf(origin: string): RegExp {
  const parts = origin.split(ANY).map(literalPattern);
  return new RegExp(`^${parts.join(WILDCARD)}$`, 'iu');
}
