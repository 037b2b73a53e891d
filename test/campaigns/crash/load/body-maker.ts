/**
 * Makes the bodies of the load: every signal, every encoding and every reason for a refusal, many of them in conflict
 * with each other. The same seed makes the same bodies except for their timestamps.
 */
import { Random } from '../../../support/generators-random.ts';
import { aLogRequest, aMetricRequest, attributes, aTraceRequest } from '../../../support/payloads.ts';
import { loadProtos } from '../../../support/protos.ts';
import { type Body, type Draft, makeBody, NAME_ATTRIBUTE, type RequestTypes } from './body.ts';
import { FREE, FREE_CAP, RIVALS, SCOPED, type Tenant } from './tenants.ts';
import { MS_NS } from '../../../../src/pdata/time-units.ts';

/** Recent bodies whose spans may be sent again in another body. */
const RECENT_BODIES = 32;
/** Traces that many concurrent log records name, so that writers need the same rows. */
const HOT_TRACES = 8;
const HOT_BODIES = 150;
const CONTEST_BODIES = 4;
const LARGE_SPANS = 300;

type Facts = Pick<Draft, 'tenant' | 'environment' | 'signal' | 'nature'>;

interface Sent {
  readonly tenant: Tenant;
  readonly environment: string;
  readonly span: object;
  readonly traceId: string;
  readonly record: string;
}

export class BodyMaker {
  readonly #random: Random;
  readonly #types: RequestTypes;
  readonly #recent: Sent[] = [];
  #hot: string[] = [];
  #contested = '';
  #count = 0;
  #bodies = 0;
  /** Spans sent by projects of the free plan so far. The next project follows when one must be over its cap. */
  #freeSpans = 0;
  #lastMetrics: Body | null = null;

  constructor(seed: number) {
    this.#random = new Random(seed);
    const [traces, logs, metrics] = loadProtos().requests;
    this.#types = { traces, logs, metrics };
  }

  next(): Body {
    this.#count++;
    if (this.#bodies % HOT_BODIES === 0) this.#hot = Array.from({ length: HOT_TRACES }, () => this.#hex(16));
    if (this.#bodies % CONTEST_BODIES === 0) this.#contested = this.#hex(16);
    this.#bodies++;
    const choice = this.#random.below(100);
    if (choice < 30) return this.#spans();
    if (choice < 42) return this.#logs(this.#some(this.#hot));
    if (choice < 55) return this.#metrics();
    if (choice < 72) return this.#free();
    if (choice < 84) return this.#contest();
    if (choice < 92) return this.#repeat();
    if (choice < 96) return this.#spans('broken');
    return this.#scoped();
  }

  /** `count` bodies, each on some of the same new traces, in different orders. */
  overlapping(count: number): readonly Body[] {
    const traceIds = Array.from({ length: HOT_TRACES }, () => this.#hex(16));
    return Array.from({ length: count }, () => {
      this.#count++;
      return this.#logs(this.#some(traceIds));
    });
  }

  /** `count` spans in one new trace. */
  plain(tenant: Tenant, count: number): Body {
    this.#count++;
    const traceId = this.#hex(16);
    const nature = tenant.cap === undefined ? 'sound' : 'limited';
    const facts: Facts = { tenant, environment: 'default', signal: 'traces', nature };
    return this.#traceBody(facts, this.#newSpans(facts, Array(count).fill(traceId)));
  }

  #spans(nature: 'sound' | 'broken' = 'sound'): Body {
    const facts: Facts = {
      tenant: this.#random.pick(RIVALS),
      environment: this.#random.pick(['default', 'production']),
      signal: 'traces',
      nature,
    };
    const traceIds = [this.#hex(16), this.#hex(16)];
    const count = this.#random.once(12) ? LARGE_SPANS : 1 + this.#random.below(5);
    const spans = this.#newSpans(
      facts,
      Array.from({ length: count }, () => this.#random.pick(traceIds)),
    );
    if (nature === 'sound') this.#recent.push(...spans.slice(0, 1));
    if (this.#recent.length > RECENT_BODIES) this.#recent.shift();
    return this.#traceBody(facts, spans);
  }

  #free(): Body {
    const count = 1 + this.#random.below(4);
    // Each project is sent one and a half times its cap.
    const tenant = FREE[Math.floor(this.#freeSpans / (FREE_CAP * 1.5)) % FREE.length] as Tenant;
    this.#freeSpans += count;
    const facts: Facts = { tenant, environment: 'default', signal: 'traces', nature: 'limited' };
    const traceId = this.#hex(16);
    return this.#traceBody(facts, this.#newSpans(facts, Array(count).fill(traceId)));
  }

  #contest(): Body {
    const tenant = this.#random.pick(RIVALS);
    const environment = this.#random.pick(['default', 'default', 'staging']);
    const facts: Facts = { tenant, environment, signal: 'traces', nature: 'contested' };
    // The second trace has no conflict: a refusal must not claim it either.
    return this.#traceBody(facts, this.#newSpans(facts, [this.#contested, this.#hex(16)]));
  }

  /** A span that was sent before, together with a new span of its trace. */
  #repeat(): Body {
    if (this.#recent.length === 0) return this.#spans();
    const again = this.#random.pick(this.#recent);
    const facts: Facts = {
      tenant: again.tenant,
      environment: again.environment,
      signal: 'traces',
      nature: 'sound',
    };
    return this.#traceBody(facts, [...this.#newSpans(facts, [again.traceId]), again]);
  }

  #scoped(): Body {
    const environment = this.#random.pick([' Staging ', 'production']);
    const isForeign = environment === 'production';
    const facts: Facts = {
      tenant: SCOPED,
      environment: environment.trim().toLowerCase(),
      signal: 'traces',
      nature: isForeign ? 'foreign_environment' : 'sound',
    };
    const spans = this.#newSpans(facts, [this.#hex(16)]);
    return this.#finish(
      facts,
      aTraceRequest(
        spans.map(({ span }) => span),
        resource(environment),
      ),
      spans,
    );
  }

  #some(traceIds: readonly string[]): readonly string[] {
    return this.#random.shuffle(traceIds).slice(0, 2 + this.#random.below(5));
  }

  #logs(traceIds: readonly string[]): Body {
    const facts: Facts = { tenant: RIVALS[0] as Tenant, environment: 'default', signal: 'logs', nature: 'sound' };
    const records = traceIds.map((traceId, index) => ({ traceId, record: this.#name(index) }));
    const logRecords = records.map(({ traceId, record }) => ({
      timeUnixNano: nowNs(),
      traceId,
      body: { stringValue: 'a log record' },
      attributes: attributes({ [NAME_ATTRIBUTE]: record }),
    }));
    return this.#finish(facts, aLogRequest(logRecords, resource('default')), records);
  }

  #metrics(): Body {
    if (this.#lastMetrics !== null && this.#random.once(4)) return this.#echo(this.#lastMetrics);
    const facts: Facts = {
      tenant: this.#random.pick(RIVALS),
      environment: 'default',
      signal: 'metrics',
      nature: 'sound',
    };
    const records = Array.from({ length: 1 + this.#random.below(4) }, (_, index) => ({ record: this.#name(index) }));
    const metrics = records.map(({ record }) => ({
      name: 'crash.gauge',
      gauge: {
        dataPoints: [{ timeUnixNano: nowNs(), asDouble: 1, attributes: attributes({ [NAME_ATTRIBUTE]: record }) }],
      },
    }));
    this.#lastMetrics = this.#finish(facts, aMetricRequest(metrics, resource('default')), records);
    return this.#lastMetrics;
  }

  /** The same bytes from another project: not a replay. */
  #echo(body: Body): Body {
    this.#lastMetrics = null;
    const tenant = RIVALS.find(({ project }) => project !== body.tenant.project) ?? body.tenant;
    return { ...body, id: this.#count, tenant };
  }

  #newSpans({ tenant, environment }: Facts, traceIds: readonly string[]): Sent[] {
    return traceIds.map((traceId, index) => {
      const record = this.#name(index);
      const start = BigInt(Date.now()) * MS_NS;
      const span = {
        traceId,
        spanId: this.#hex(8),
        name: 'work',
        startTimeUnixNano: String(start),
        endTimeUnixNano: String(start + MS_NS),
        attributes: attributes({ [NAME_ATTRIBUTE]: record, filling: 'x'.repeat(this.#random.below(400)) }),
      };
      return { tenant, environment, span, traceId, record };
    });
  }

  #traceBody(facts: Facts, spans: readonly Sent[]): Body {
    const request = aTraceRequest(this.#random.shuffle(spans.map(({ span }) => span)), resource(facts.environment));
    return this.#finish(facts, request, spans);
  }

  #finish(
    facts: Facts,
    message: object,
    records: readonly { readonly record: string; readonly traceId?: string }[],
  ): Body {
    const draft: Draft = {
      ...facts,
      id: this.#count,
      encoding: this.#random.pick(['protobuf', 'json'] as const),
      gzip: this.#random.once(2),
      message,
      traces: [...new Set(records.flatMap(({ traceId }) => (traceId === undefined ? [] : [traceId])))],
      records: records.map(({ record }) => record),
    };
    return makeBody(draft, this.#types);
  }

  #name(index: number): string {
    return `${this.#count}.${index}`;
  }

  #hex(bytes: number): string {
    let digits = '';
    while (digits.length < bytes * 2) digits += this.#random.next().toString(16).padStart(8, '0');
    return digits;
  }
}

const resource = (environment: string): Record<string, string> => ({
  'service.name': 'crash',
  'deployment.environment.name': environment,
});

const nowNs = (): string => String(BigInt(Date.now()) * MS_NS);
