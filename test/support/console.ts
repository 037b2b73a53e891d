/** A daemon with a console on its own database, people of all roles, and requests over real sockets. */
import { hash, randomBytes } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { PersonDraft } from '../../src/component/capabilities/people.ts';
import { Administration } from '../../src/extensions/postgres/administration.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { PostgresPeople } from '../../src/extensions/postgres/people.ts';
import { createReadToken } from '../../src/pdata/api-key.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { createDatabase } from './postgres.ts';
import { SERVED } from './postgres-daemon.ts';

const BY = { id: null, name: 'a test' };

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
  /** The body as JSON; null when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests match parts of it.
  readonly json: any;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface TestConsole {
  readonly daemon: Daemon;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly people: PostgresPeople;
  readonly administration: Administration;
  readonly port: number;
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  ask(path: string, ask?: Ask): Promise<Answer>;
  /** Creates the person and returns the headers of a session. A changing request needs `origin`, which is included. */
  logIn(draft: PersonDraft): Promise<Session>;
  /** The text of a new read token. */
  token(project: string, draft?: { readonly seesContent?: boolean; readonly expiresAt?: Date }): Promise<string>;
}

export interface Session {
  readonly id: string;
  readonly headers: { readonly cookie: string; readonly origin: string };
}

export interface ConsoleTestOptions {
  /** Lines of the console's options. */
  readonly options?: string;
  readonly processors?: string;
  readonly projects?: readonly string[];
  /** An empty database; left out: one on the shared server. */
  readonly databaseUrl?: string;
}

const configOf = (url: string, options: string, processors: string): string => `
extensions:
  postgres: { url: "${url}", allow_unsafe: true }
  console: { endpoint: "127.0.0.1:0"${options === '' ? '' : `, ${options}`} }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors: { auth: {}, environment: {}, normalization: {}, pricing: {} }
exporters: { postgres: {} }
service:
  extensions: [postgres, console]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: &pipeline { receivers: [otlp], processors: [${processors}], exporters: [postgres] }
    logs: *pipeline
    metrics: *pipeline
`;

export async function startConsole(
  t: Parameters<typeof startDaemon>[0],
  { options = '', processors = 'auth, environment', projects = ['shop', 'blog'], databaseUrl }: ConsoleTestOptions = {},
): Promise<TestConsole> {
  const url = databaseUrl ?? (await createDatabase(t, SERVED)).url;
  const daemon = await startDaemon(t, { config: configOf(url, options, processors) });
  const opened = daemon.log.find(({ message }) => message === 'the console is open');
  const port = Number(/\d+$/u.exec(String(opened?.fields['endpoint']))?.[0]);
  const origin = `http://127.0.0.1:${port}`;
  const database = new Database().use({ connectionString: url });
  t.teardown(() => database.close());
  const people = new PostgresPeople(database);
  const administration = new Administration(database, BY);
  for (const project of projects) await administration.createProject(project, 'paid', null);
  const agent = new Agent({ keepAlive: true });
  t.teardown(async () => agent.destroy());
  const ask = (path: string, options: Ask = {}): Promise<Answer> => sendRequest({ agent, port, path, ...options });
  return {
    databaseUrl: url,
    ...{ daemon, database, people, administration, port, origin, ask },
    logIn: async (draft) => {
      const person = await people.create(draft, BY);
      const [link, session] = [randomBytes(32), randomBytes(32).toString('base64url')];
      await people.addLink(person.id, { hash: link, lifetimeMs: 60_000 }, BY);
      await people.useLink(link, { hash: hash('sha256', session, 'buffer'), address: null, agent: null });
      return { id: person.id, headers: { cookie: `sluice_${port}=${session}`, origin } };
    },
    token: async (project, { seesContent = false, expiresAt = null } = {}) => {
      const { text, publicId, hash } = createReadToken();
      await people.addToken({ project, label: null, seesContent, expiresAt }, { publicId, hash }, BY);
      return text;
    },
  };
}

function sendRequest({
  agent,
  port,
  path,
  method = 'GET',
  headers = {},
  body,
}: Ask & { agent: Agent; port: number; path: string }): Promise<Answer> {
  const content = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers: { ...content, ...headers } as never, agent },
      (answer) => {
        const chunks: Buffer[] = [];
        const { statusCode: status = 0, headers: answered } = answer;
        // A live stream does not end by itself.
        if (answered['content-type'] === 'text/event-stream') {
          resolve({ status, headers: answered, text: '', bytes: Buffer.alloc(0), json: null });
          sent.destroy();
          return;
        }
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString('utf8');
          resolve({ status, headers: answered, text, bytes, json: jsonOf(text) });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
