/** The URL of a PostgreSQL database, as options take it. It holds a password: no message repeats it. */
import { MAX_PORT } from './endpoint.ts';
import { MAX_TLS_FILE_BYTES, readLimitedFile } from './limited-file.ts';
import { suggest } from './nearest.ts';

export interface UrlFault {
  readonly message: string;
  readonly hint: string;
}

/** Also the folder of a server's socket, in two forms. */
const FORM = /^(?:postgres(?:ql)?:\/\/|socket:|\/)/;
export const FORM_HINT =
  'Write it as postgres://user:password@host:5432/database, special characters of the password as %XX.';
/** libpq tries one host after the other, the client does not. A password may contain a comma. */
const SEVERAL_HOSTS = /^[^/]*:\/\/(?:[^/?]*@)?[^@/?]*,[^@/?]*(?:[/?]|$)|[?&]host=[^&]*(?:,|%2C)/iu;
const ONE_HOST_HINT =
  'Write one that always leads to the primary: a name in DNS, a virtual address, or a proxy such as HAProxy.';
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** The client takes these for verify-full. It also prints a warning, which is not for an operator. */
const SAME_AS_VERIFY_FULL = /(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/u;
/** The parameters of the client and libpq. The client ignores others, so a misspelt sslmode would mean no TLS. */
const SSL_PARAMETERS = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'ssl',
  'sslnegotiation',
  'sslpassword',
  'sslcrl',
  'sslcrldir',
  'sslsni',
  'sslcompression',
  'ssl_min_protocol_version',
  'ssl_max_protocol_version',
];

const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** The URL for the client, with the mode of TLS that is used. */
export function forClient(url: string): string {
  return url.includes('uselibpqcompat=true') ? url : url.replace(SAME_AS_VERIFY_FULL, 'verify-full');
}

/** Null for a URL that a client can read. */
export function faultOfDatabaseUrl(text: string): UrlFault | null {
  if (!FORM.test(text)) return { message: 'it does not begin with postgres://', hint: FORM_HINT };
  if (!text.startsWith('postgres')) return null;
  // In a password it would end the host.
  if (text.includes('#')) return { message: 'it contains the character #', hint: 'Write it as %23.' };
  if (SEVERAL_HOSTS.test(text)) return { message: 'it names several hosts', hint: ONE_HOST_HINT };
  const url = parse(text);
  if (url === null) return { message: 'it is not a valid URL', hint: FORM_HINT };
  const port = url.searchParams.get('port') ?? url.port;
  if (port !== '' && !isPort(port)) return { message: `its port is not from 1 to ${MAX_PORT}`, hint: FORM_HINT };
  const misspelt = [...url.searchParams.keys()].find((name) => /^ssl/iu.test(name) && !SSL_PARAMETERS.includes(name));
  if (misspelt !== undefined)
    return {
      message: 'it has an unknown parameter of TLS',
      hint: suggest(misspelt, SSL_PARAMETERS, 'parameters') ?? FORM_HINT,
    };
  // The client takes an unknown mode for verify-full, which may not be what is meant.
  const mode = url.searchParams.get('sslmode') ?? '';
  if (mode !== '' && !SSL_MODES.includes(mode))
    return { message: 'its sslmode is not known', hint: suggest(mode, SSL_MODES, 'modes') ?? FORM_HINT };
  return faultOfFiles(url);
}

/** The client reads these files without a limit, and waits for the writer of a pipe. */
function faultOfFiles({ searchParams }: URL): UrlFault | null {
  for (const path of FILES.map((name) => searchParams.get(name) ?? '').filter((each) => each !== '')) {
    try {
      readLimitedFile(path, { maxBytes: MAX_TLS_FILE_BYTES });
    } catch (error) {
      const message = `${path}, which it names, cannot be read: ${(error as Error).message}`;
      return { message, hint: 'Check the path and its permissions.' };
    }
  }
  return null;
}

/** The host may be left out, also after a user. */
function parse(text: string): URL | null {
  const complete = [text, text.replace('@/', '@host/')].find((each) => URL.canParse(each));
  return complete === undefined ? null : new URL(complete);
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/u.test(text) && Number(text) >= 1 && Number(text) <= MAX_PORT;
}
