/**
 * Sends many permutations of the same stories, each into its own project, over several connections to two daemons on
 * one database, and compares the tables and views at the end. An effect of the order of arrival is a difference between
 * projects.
 */
import type pg from 'pg';
import { Pool } from 'undici';
import { connectTo } from '../../support/connection.ts';
import { type Daemon, startDaemon } from '../../support/daemon.ts';
import { Random } from '../../support/generators-random.ts';
import { deliver, type Delivery } from './delivery.ts';
import { PREFIX_DIGITS, Story, type StoryRecord } from './story.ts';
import type { Teardown } from '../../support/postgres.ts';

export interface OrderOptions {
  /** An empty database. */
  readonly databaseUrl: string;
  readonly permutations: number;
  readonly seed: number;
}

export interface OrderReport {
  readonly stories: number;
  readonly permutations: number;
  readonly requests: number;
  readonly records: number;
  /** Answers 503, after which the request was sent again until it was accepted. */
  readonly retried: number;
  readonly comparingMs: number;
  readonly differences: readonly Difference[];
}

export interface Difference {
  readonly story: number;
  readonly relation: string;
  readonly permutation: number;
  /** Rows that only the first permutation has, and rows that only this one has. */
  readonly expected: readonly string[];
  readonly found: readonly string[];
}

/** Permutations of one story; each is compared with the first. */
const PER_STORY = 10;
/** Stories that are sent concurrently, and connections to each daemon. */
const STORIES_AT_ONCE = 8;
const CONNECTIONS = 6;
const MAX_TRIES = 50;
const RETRY_MS = 20;
/** The relations that are compared, without the columns in ARRIVAL: the time of arrival and the project. */
const RELATIONS: Readonly<Record<string, { readonly from: string; readonly traceId: 'hex' | 'bytes' | 'none' }>> = {
  spans: { from: 'spans', traceId: 'hex' },
  logs: { from: 'logs', traceId: 'hex' },
  metric_points: { from: 'metric_points', traceId: 'none' },
  model_calls: { from: 'model_calls', traceId: 'hex' },
  counted_usage: { from: 'counted_usage', traceId: 'bytes' },
  traces: { from: 'traces', traceId: 'hex' },
  'sluice.traces': { from: 'sluice.traces', traceId: 'bytes' },
  'sluice.usage_months': { from: 'sluice.usage_months', traceId: 'none' },
  conversations: { from: 'conversations', traceId: 'none' },
  usage_daily: { from: 'usage_daily', traceId: 'none' },
};
const ARRIVAL = ['project', 'received_at', 'created_at'] as const;

const keyOf = (permutation: number): string => `key-of-permutation-${permutation}`;
const projectOf = (permutation: number): string => `p${permutation}`;
const prefixOf = (permutation: number): string => (permutation + 1).toString(16).padStart(PREFIX_DIGITS, '0');

interface Sent {
  readonly permutation: number;
  readonly delivery: Delivery;
}

export async function runOrderCampaign(t: Teardown, options: OrderOptions): Promise<OrderReport> {
  const { databaseUrl: url } = options;
  const config = configOf(url, options.permutations);
  const daemons = [await startDaemon(t, { config }), await startDaemon(t, { config })];
  const client = await connectTo(t, url);
  const campaign = new Campaign(daemons, client, options);
  try {
    return await campaign.run();
  } finally {
    await campaign.close();
  }
}

class Campaign {
  readonly #pools: readonly Pool[];
  readonly #client: pg.Client;
  readonly #options: OrderOptions;
  readonly #random: Random;
  #requests = 0;
  #records = 0;
  #retried = 0;
  #comparingMs = 0;

  constructor(daemons: readonly Daemon[], client: pg.Client, options: OrderOptions) {
    this.#pools = daemons.map(({ url }) => new Pool(url, { connections: CONNECTIONS }));
    this.#client = client;
    this.#options = options;
    this.#random = new Random(options.seed);
  }

  async run(): Promise<OrderReport> {
    const { permutations } = this.#options;
    const stories = Math.ceil(permutations / PER_STORY);
    const differences: Difference[] = [];
    for (let first = 0; first < stories; first += STORIES_AT_ONCE) {
      const some = Array.from({ length: Math.min(STORIES_AT_ONCE, stories - first) }, (_, index) => first + index);
      await this.#sendAll(this.#random.shuffle(some.flatMap((story) => this.#queuesOf(story))));
      const sent = performance.now();
      differences.push(...(await this.#compare(some)));
      this.#comparingMs += performance.now() - sent;
    }
    const counts = { requests: this.#requests, records: this.#records, retried: this.#retried };
    return { stories, permutations, ...counts, comparingMs: Math.round(this.#comparingMs), differences };
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()));
  }

  #permutationsOf(story: number): readonly number[] {
    const first = story * PER_STORY;
    const count = Math.min(PER_STORY, this.#options.permutations - first);
    return Array.from({ length: count }, (_, index) => first + index);
  }

  #queuesOf(story: number): readonly Sent[][] {
    const tell: (prefix: string) => readonly StoryRecord[] = new Story(this.#random, Date.now()).tell();
    return this.#permutationsOf(story).map((permutation) => {
      const records = tell(prefixOf(permutation));
      this.#records += records.length;
      return deliver(records, this.#random).map((delivery) => ({ permutation, delivery }));
    });
  }

  /** Requests of a permutation start in its order, but can overtake each other on different connections. */
  async #sendAll(queues: readonly Sent[][]): Promise<void> {
    const requests = queues.flat();
    const writers = this.#pools.flatMap((pool) => Array.from({ length: CONNECTIONS }, () => pool));
    let next = 0;
    await Promise.all(
      writers.map(async (pool) => {
        for (let sent = requests[next++]; sent !== undefined; sent = requests[next++]) await this.#send(pool, sent);
      }),
    );
  }

  async #send(pool: Pool, { permutation, delivery }: Sent): Promise<void> {
    for (let tries = 1; ; tries++) {
      const { statusCode, body } = await pool.request({
        path: `/v1/${delivery.signal}`,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${keyOf(permutation)}` },
        body: delivery.body,
      });
      const text = await body.text();
      this.#requests++;
      if (statusCode === 200) return;
      if (statusCode !== 503 || tries === MAX_TRIES) throw new Error(`${statusCode} ${text} for ${delivery.body}`);
      this.#retried++;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async #compare(stories: readonly number[]): Promise<readonly Difference[]> {
    const projects = stories.flatMap((story) => this.#permutationsOf(story).map(projectOf));
    const differences: Difference[] = [];
    for (const relation of Object.keys(RELATIONS)) {
      const shown = await this.#read(relation, projects);
      for (const story of stories) differences.push(...this.#differences(story, relation, shown));
    }
    return differences;
  }

  #differences(story: number, relation: string, shown: ReadonlyMap<string, readonly string[]>): readonly Difference[] {
    const [expected = [], ...others] = this.#permutationsOf(story).map((number) => shown.get(projectOf(number)) ?? []);
    return others.flatMap((found, index) => {
      if (found.join('\n') === expected.join('\n')) return [];
      const permutation = story * PER_STORY + index + 1;
      const sides = { expected: without(expected, found), found: without(found, expected) };
      return [{ story, relation, permutation, ...sides }];
    });
  }

  /** Every row as text, sorted, by project. */
  async #read(relation: string, projects: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const { from, traceId } = RELATIONS[relation] ?? { from: relation, traceId: 'none' };
    const id = traceId === 'bytes' ? "encode(r.trace_id, 'hex')" : 'r.trace_id';
    const own = traceId === 'none' ? '' : ` || jsonb_build_object('trace_id', substr(${id}, ${PREFIX_DIGITS + 1}))`;
    const arrival = ARRIVAL.map((column) => ` - '${column}'`).join('');
    const { rows } = await this.#client.query<{ project: string; shown: string[] }>(
      `SELECT project, array_agg(shown ORDER BY shown COLLATE "C") AS shown FROM (
         SELECT r.project, ((to_jsonb(r)${arrival})${own})::text AS shown FROM ${from} r WHERE r.project = ANY ($1)
       ) AS all_of_them GROUP BY project`,
      [projects],
    );
    return new Map(rows.map(({ project, shown }) => [project, shown]));
  }
}

function without(rows: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return rows.filter((row) => {
    const at = left.indexOf(row);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function configOf(databaseUrl: string, permutations: number): string {
  const keys = Array.from(
    { length: permutations },
    (_, index) => `      - { key: ${keyOf(index)}, project: ${projectOf(index)} }`,
  );
  const pipeline =
    '{ receivers: [otlp], processors: [auth, environment, normalization, pricing], exporters: [postgres] }';
  return `
extensions: { postgres: { url: "${databaseUrl}", allow_unsafe: true } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors:
  auth:
    keys:
${keys.join('\n')}
  environment: {}
  normalization: {}
  pricing: {}
exporters: { postgres: {} }
service:
  extensions: [postgres]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: ${pipeline}
    logs: ${pipeline}
    metrics: ${pipeline}
`;
}
