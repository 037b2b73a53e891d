/** The options of the console: the schema, the type, and what the schema cannot express. */
import { isIP } from 'node:net';
import type { CheckPlace, OptionFault } from '../../component/component.ts';
import { faultOfDatabaseUrl } from '../../component/database-url.ts';
import { parseListenEndpoint } from '../../component/endpoint.ts';
import { timerOption } from '../../component/longest-wait.ts';
import type { Role } from '../../component/capabilities/people.ts';
import { booleanOption, choiceOption, integerOption, optionGroup } from '../../component/option-schema.ts';
import { readCertificates } from '../../net/certificates.ts';
import { TLS_SCHEMA, type TlsOptions } from '../../net/tls-options.ts';
import { DAY_MS } from '../../pdata/time-units.ts';

export interface ConsoleOptions {
  readonly endpoint: string;
  readonly public_url: string;
  readonly allowed_hosts: readonly string[];
  readonly tls?: TlsOptions;
  readonly ui: boolean;
  readonly tempo: boolean;
  readonly jaeger: boolean;
  readonly content: boolean;
  readonly auth: AuthOptions;
  readonly query: { readonly timeout: number; readonly connections: number; readonly url: string };
  readonly max_connections: number;
}

export interface AuthOptions {
  readonly mode: 'link' | 'proxy' | 'none';
  readonly session_lifetime: number;
  readonly anonymous_role: Role;
  readonly proxy: { readonly header: string; readonly trusted: readonly string[]; readonly role: Role };
}

const ROLE = { type: 'string', enum: ['viewer', 'editor', 'admin'] } as const;

export const CONSOLE_SCHEMA = {
  type: 'object',
  description: 'A page and an API that show what is stored, and manage projects, keys and people.',
  additionalProperties: false,
  properties: {
    endpoint: {
      type: 'string',
      format: 'endpoint',
      default: '127.0.0.1:4319',
      description: 'The address to listen on.',
    },
    public_url: {
      type: 'string',
      format: 'http_url',
      default: '',
      description:
        'The URL by which people reach the console, without a path, such as https://sluice.example.com. Required behind a proxy that ends TLS.',
    },
    allowed_hosts: {
      type: 'array',
      maxItems: 100,
      items: { type: 'string', pattern: '^[A-Za-z0-9._-]+$', maxLength: 253, description: 'A name without a port.' },
      default: [],
      description:
        'Further names that requests may have in Host. Names of this machine, IP addresses and the name of public_url are always allowed.',
    },
    tls: TLS_SCHEMA,
    ui: booleanOption(true, 'Serve the page. Without it only the APIs are served.'),
    tempo: booleanOption(true, "Serve a part of Tempo's API below /tempo, for the Tempo data source of Grafana."),
    jaeger: booleanOption(
      true,
      "Serve a part of Jaeger's API below /jaeger, for Grafana's data source and for Jaeger UI.",
    ),
    content: booleanOption(
      true,
      'Show prompts, answers and tool payloads. With false no one sees them here, admins included.',
    ),
    auth: optionGroup('How people log in.', {
      mode: choiceOption(
        ['link', 'proxy', 'none'],
        'link: one-time links of `sluice console`. proxy: a trusted proxy names the person, and links work too. none: no login, only on a loopback address or a Unix domain socket.',
      ),
      session_lifetime: {
        type: 'integer',
        format: 'duration',
        minimum: 60_000,
        maximum: 365 * DAY_MS,
        default: '30d',
        description: 'How long a login lasts. It ends after 7 days without use.',
      },
      anonymous_role: { ...ROLE, default: 'viewer', description: 'With mode none: the role of every visitor.' },
      proxy: optionGroup('For mode proxy.', {
        header: {
          type: 'string',
          pattern: '^[A-Za-z0-9-]{1,100}$',
          default: 'X-Forwarded-User',
          description: 'The header with the name of the person. The proxy must remove it from requests of clients.',
        },
        trusted: {
          type: 'array',
          maxItems: 100,
          items: { type: 'string', maxLength: 60, description: 'An address or a range in CIDR form.' },
          default: ['127.0.0.1/32', '::1/128'],
          description: 'The addresses of proxies. A Unix domain socket counts as 127.0.0.1.',
        },
        role: {
          ...ROLE,
          default: 'viewer',
          description: 'The role of people who are not in `sluice person list`. Viewers and editors see no project.',
        },
      }),
    }),
    query: optionGroup('The connections for reading.', {
      timeout: timerOption(100, '10s', 'The time limit of a query.'),
      connections: integerOption(
        [1, 50],
        3,
        'Connections to the database for reading, opened on demand. Downloads and large traces use all but one.',
      ),
      url: {
        type: 'string',
        default: '',
        secret: true,
        description:
          'Another role or a replica to read from, not through a pooler that shares sessions. Empty: the database of the postgres extension.',
      },
    }),
    max_connections: integerOption(
      [1, 65_535],
      512,
      'Connections of clients that are open at once. A further one replaces one of the address (or IPv6 /64) with the most, or is refused.',
    ),
  },
} as const;

/** A scheme, a host and perhaps a port. */
const ORIGIN = /^\w+:\/\/[^/?#@]+$/u;

/** Whether only this machine can connect: a loopback address or a Unix domain socket. */
function isLocal(text: string): boolean {
  const endpoint = parseListenEndpoint(text);
  if (endpoint === null) return false;
  if ('path' in endpoint) return true;
  const { host } = endpoint;
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** The faults of options that the schema admits. */
export function checkConsole(options: ConsoleOptions, place: CheckPlace): readonly OptionFault[] {
  const { endpoint, public_url: publicUrl, auth, tls, query } = options;
  const certificates = tls === undefined ? [] : readCertificates(tls, place).faults;
  const faults: OptionFault[] = certificates.map(({ option, ...rest }) => ({ option: ['tls', option], ...rest }));
  faults.push(...urlFaults(publicUrl, query.url));
  if (auth.mode === 'none' && !isLocal(endpoint))
    faults.push({
      option: ['auth', 'mode'],
      severity: 'error',
      message: `without a login the console cannot listen on ${endpoint}`,
      hint: 'use a loopback address or a Unix domain socket, or mode link or proxy',
    });
  if (!isLocal(endpoint) && !publicUrl.startsWith('https:') && tls === undefined)
    faults.push({
      option: ['endpoint'],
      severity: 'warning',
      message: 'other machines reach the console without TLS, so others on the network can read cookies and data',
      hint: 'set tls, or public_url to the https address of a proxy',
    });
  auth.proxy.trusted.forEach((range, index) => {
    if (parseRange(range) !== null) return;
    faults.push({
      option: ['auth', 'proxy', 'trusted', index],
      severity: 'error',
      message: `"${range}" is not an address or a range of addresses`,
      hint: 'as 10.0.0.0/8 or ::1',
    });
  });
  return faults;
}

function urlFaults(publicUrl: string, queryUrl: string): readonly OptionFault[] {
  const faults: OptionFault[] = [];
  if (publicUrl !== '' && !ORIGIN.test(publicUrl))
    faults.push({
      option: ['public_url'],
      severity: 'error',
      message: 'public_url has more than a scheme, a host and a port',
      hint: 'Write it as https://sluice.example.com, without a user, a path or a final slash.',
    });
  const fault = queryUrl === '' ? null : faultOfDatabaseUrl(queryUrl);
  if (fault !== null)
    faults.push({
      option: ['query', 'url'],
      severity: 'error',
      message: `the URL cannot be used: ${fault.message}`,
      hint: fault.hint,
    });
  return faults;
}

export interface AddressRange {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
  readonly bits: number;
}

/** Null when the text is not an address or a range. */
export function parseRange(text: string): AddressRange | null {
  const [, address = '', bits] = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/u.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return null;
  const longest = version === 4 ? 32 : 128;
  const length = bits === undefined ? longest : Number(bits);
  return length > longest ? null : { address, family: version === 4 ? 'ipv4' : 'ipv6', bits: length };
}
