/**
 * The `auth` processor: finds the project of an API key. It reads the Authorization header only, before the body. Every
 * invalid state of a key gets the same answer (401). A lookup that fails is 500, never "unknown key"; while the
 * database is known to be unavailable requests with stored keys are 503.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Capabilities } from '../../component/capabilities/capability.ts';
import { KEY_DIRECTORY, type KeyDirectory, type StoredKey } from '../../component/capabilities/key-directory.ts';
import { timerOption } from '../../component/longest-wait.ts';
import { defineProcessor, type Processor } from '../../component/processor.ts';
import type { Host } from '../../component/component.ts';
import { Rejection, UserError } from '../../errors.ts';
import { hashApiKey, publicIdOf, publicIdOfReadToken } from '../../pdata/api-key.ts';
import type { Context, Credential, Project, RequestInfo } from '../../pdata/context.ts';
import { type CacheCounters, LookupCache } from './lookup-cache.ts';
import { staticKeyFaults, type StaticKeyOptions, StaticKeys } from './static-keys.ts';

export interface AuthOptions {
  readonly keys: readonly StaticKeyOptions[];
  /** Milliseconds. */
  readonly cache_ttl: number;
  readonly lookup_timeout: number;
}

const NO_SCHEME = 'the Authorization header does not begin with "Bearer "';
/** The value of the variable, given to a client that does not decode it. */
const ENCODED = /^Bearer(?:%20|\+)/u;
const URL_ENCODED = `${NO_SCHEME}: it is URL-encoded, which only the value of OTEL_EXPORTER_OTLP_HEADERS is`;
/** What a client sends when the variable of its key is not set. */
const NO_KEY = 'no key follows "Bearer" in the Authorization header';
const SCHEME = 'Bearer ';
const DATABASE_UNAVAILABLE = 'the database is unavailable';
/** No key is longer; a longer one is refused without a lookup. */
const MAX_KEY_LENGTH = 512;

class Auth implements Processor {
  readonly #host: Host;
  readonly #options: AuthOptions;
  readonly #static: StaticKeys;
  readonly #counters: CacheCounters;
  #directory: KeyDirectory | null = null;
  #keys: LookupCache<StoredKey> | null = null;
  /** The project of a static key is in the configuration; its privacy settings may be in the database. */
  #projects: LookupCache<Project> | null = null;
  #stopListening: (() => void) | null = null;

  constructor(options: AuthOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#static = new StaticKeys(options.keys);
    this.#counters = {
      hits: host.meter.counter('sluice_key_cache_hits', 'Lookups of keys and projects answered from the cache.'),
      misses: host.meter.counter('sluice_key_cache_misses', 'Lookups of keys and projects that queried the database.'),
    };
  }

  async start(): Promise<void> {
    const directory = directoryOf(this.#host.capabilities);
    if (directory === undefined) {
      if (!this.#static.isEmpty) return;
      throw new UserError(
        `${this.#host.id}: there is no key to check against`,
        'Add keys to the auth processor, or add the postgres extension, which stores keys.',
      );
    }
    const limits = { lifeMs: this.#options.cache_ttl, timeoutMs: this.#options.lookup_timeout };
    const now = (): number => this.#host.now();
    const guessed = { ...limits, fromClients: true };
    const keys = new LookupCache((publicId) => directory.findKey(publicId), guessed, now, this.#counters);
    const configured = { ...limits, fromClients: false };
    const projects = new LookupCache((name) => directory.findProject(name), configured, now, this.#counters);
    this.#directory = directory;
    this.#keys = keys;
    this.#projects = projects;
    this.#stopListening = directory.onChange(() => {
      keys.clear();
      projects.clear();
    });
  }

  async stop(): Promise<void> {
    this.#stopListening?.();
    this.#stopListening = null;
  }

  admit(request: RequestInfo, context: Context): Promise<void> | void {
    const text = keyOf(request.authorization);
    const credential = this.#static.find(text);
    if (credential !== null) return this.#admitStatic(credential, context);
    const publicId = publicIdOf(text);
    if (publicId === null) throw new Rejection('invalid_api_key', { cause: causeOf(text) });
    if (this.#keys === null) throw refused(publicId, 'not a key of the configuration');
    // Nothing can be stored while the database is unavailable, so no lookup is made, not even in the cache.
    if (this.#isUnavailable) throw from(publicId, new Rejection('ingestion_failed', { cause: DATABASE_UNAVAILABLE }));
    const found = this.#keys.find(publicId);
    if (found instanceof Promise) return this.#admitLater(found, { text, publicId }, context);
    accept(found, { text, publicId }, context);
  }

  get #isUnavailable(): boolean {
    return this.#directory?.isUnavailable?.() ?? false;
  }

  async #isUnavailableAfter(error: unknown, check: 'wait' | 'start'): Promise<boolean> {
    return (await this.#directory?.isUnavailableAfter?.(error, check)) ?? false;
  }

  #admitStatic(credential: Credential, context: Context): Promise<void> | void {
    if (this.#isUnavailable) return this.#admitStaticUnavailable(credential, context);
    const stored = this.#projects?.find(credential.project.name) ?? null;
    if (stored instanceof Promise) return this.#admitStaticLater(credential, stored, context);
    context.credential = withStoredPrivacy(credential, stored);
  }

  /**
   * When privacy settings cannot be read, content that they forbid could be stored. So the client is asked to send
   * again.
   */
  async #admitStaticLater(credential: Credential, lookup: Promise<Project | null>, context: Context): Promise<void> {
    try {
      context.credential = withStoredPrivacy(credential, await lookup);
    } catch (error) {
      if (await this.#isUnavailableAfter(error, 'wait')) return this.#admitStaticUnavailable(credential, context);
      throw new Rejection('ingestion_failed', { cause: error instanceof Error ? error.message : String(error) });
    }
  }

  /**
   * While the database is unavailable, a pipeline with a file exporter continues with the settings that were read last.
   */
  #admitStaticUnavailable(credential: Credential, context: Context): void {
    const stored = this.#projects?.lastKnown(credential.project.name);
    if (stored === undefined) throw new Rejection('ingestion_failed', { cause: DATABASE_UNAVAILABLE });
    context.credential = withStoredPrivacy(credential, stored);
  }

  /**
   * A lookup that fails or times out while the database is thought to be available is 500. The sender of a key that was
   * found before loses data by this, so for it the database is checked first.
   */
  async #admitLater(lookup: Promise<StoredKey | null>, given: GivenKey, context: Context): Promise<void> {
    let stored: StoredKey | null;
    try {
      stored = await lookup;
    } catch (error) {
      if (error instanceof Rejection) throw error;
      const isKnown = (this.#keys?.lastKnown(given.publicId) ?? null) !== null;
      const isUnavailable = await this.#isUnavailableAfter(error, isKnown ? 'wait' : 'start');
      const cause = error instanceof Error ? error.message : String(error);
      throw from(
        given.publicId,
        new Rejection(isUnavailable ? 'ingestion_failed' : 'authentication_failed', { cause }),
      );
    }
    accept(stored, given, context);
  }
}

function directoryOf(capabilities: Capabilities) {
  return capabilities.find(KEY_DIRECTORY);
}

/** Plan and quota of a static key come from the configuration, privacy settings from the database. */
function withStoredPrivacy(credential: Credential, stored: Project | null): Credential {
  return stored === null ? credential : { ...credential, project: { ...credential.project, privacy: stored.privacy } };
}

/**
 * The key's text. Throws `invalid_api_key` unless the header is `Bearer`, one space, and a text that may be a key.
 */
function keyOf(authorization: string | undefined): string {
  if (authorization === undefined) throw new Rejection('invalid_api_key', { cause: 'no Authorization header' });
  if (authorization.trimEnd() === SCHEME.trimEnd()) throw new Rejection('invalid_api_key', { cause: NO_KEY });
  if (!authorization.startsWith(SCHEME))
    throw new Rejection('invalid_api_key', { cause: ENCODED.test(authorization) ? URL_ENCODED : NO_SCHEME });
  const text = authorization.slice(SCHEME.length);
  if (text.length > MAX_KEY_LENGTH || /\s/.test(text))
    throw new Rejection('invalid_api_key', { cause: 'not the text of a key' });
  return text;
}

/** Why a text is not that of an API key. */
function causeOf(text: string): string {
  if (publicIdOfReadToken(text) === null) return 'not the text of a key';
  return 'a read token (slr_…), which only reads; sending needs an API key (slc_…)';
}

/** A key as the client sent it, of the right form. */
interface GivenKey {
  readonly text: string;
  readonly publicId: string;
}

function accept(stored: StoredKey | null, { text, publicId }: GivenKey, context: Context): void {
  if (stored === null || !timingSafeEqual(stored.hash, hashApiKey(text))) throw refused(publicId, 'unknown key');
  if (stored.revoked) throw refused(publicId, 'the key is revoked', stored.credential.project.name);
  context.credential = stored.credential;
}

/** The causes are for the log. The client gets the same answer for all of them. */
function refused(publicId: string, cause: string, project: string | null = null): Rejection {
  return from(publicId, new Rejection('invalid_api_key', { cause }), project);
}

function from(publicId: string, rejection: Rejection, project: string | null = null): Rejection {
  rejection.sender = { project, key: publicId };
  return rejection;
}

const KEY_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['key', 'project'],
  properties: {
    key: {
      type: 'string',
      minLength: 16,
      maxLength: 512,
      pattern: '^[!-~]+$',
      secret: true,
      description:
        'The key itself (16 ASCII characters or more, without spaces), or `sha256:` and the hash of one in hex.',
    },
    project: {
      type: 'string',
      pattern: '^[a-z0-9][a-z0-9_-]{0,62}$',
      description:
        'The project that owns the data sent with this key: lower-case letters, digits, `-` and `_`, up to 63 of them.',
    },
    environment: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'The only environment that the key may write. Default: all.',
    },
    plan: { enum: ['free', 'paid'], default: 'paid', description: 'Free projects have a monthly quota.' },
    monthly_spans: {
      type: 'integer',
      minimum: 0,
      maximum: 9007199254740991,
      description: 'Spans per month on the free plan.',
    },
  },
} as const;

export const auth = defineProcessor<AuthOptions>({
  type: 'auth',
  summary: 'Checks the API key and finds the project it belongs to.',
  stability: 'beta',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      keys: {
        type: 'array',
        default: [],
        maxItems: 10000,
        items: KEY_SCHEMA,
        description: 'Static keys, beside those stored in Postgres.',
      },
      cache_ttl: {
        type: 'integer',
        format: 'duration',
        minimum: 0,
        maximum: 5000,
        default: '5s',
        description:
          'How long a lookup is cached; at most 5 s, so that a revoked key is refused everywhere within that time.',
      },
      lookup_timeout: timerOption(
        10,
        '2s',
        'The longest wait for the database. After it the request gets 500. It gets 503 if the database is known to be unavailable, or if the key was found before and the database is unavailable now.',
      ),
    },
  },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own syntax.
  example: 'keys: [{ key: "${env:SLUICE_KEY}", project: demo }]',
  check: ({ keys }) => staticKeyFaults(keys),
  requires: [],
  provides: ['project'],
  create: (options, host) => new Auth(options, host),
});
