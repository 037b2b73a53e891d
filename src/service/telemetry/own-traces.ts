/**
 * The daemon's own traces, when enabled: a span for each request with a child span for each stage. They go to the
 * tracer provider that is registered with @opentelemetry/api. A request records only times; its spans are made when it
 * has ended, so that no code of a tracing library runs inside the pass.
 */
import {
  type Attributes,
  context,
  ProxyTracerProvider,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { Logger } from '../../component/logger.ts';
import { diagnosticOf, type Rejection } from '../../errors.ts';
import type { Context } from '../../pdata/context.ts';

const SCOPE = 'sluice';
/** The lowest status of failures of the service. */
const FIRST_FAILURE = 500;

/** The options of the configuration. */
export interface TracesOptions {
  readonly exclude_projects: readonly string[];
}

export type StageName = 'admit' | 'read' | 'wait' | 'index' | 'process' | 'encode' | 'stage' | 'settle' | 'commit';

/** Times of `performance.now()`. */
interface Stage {
  readonly name: StageName;
  readonly start: number;
  readonly end: number;
  readonly inner: readonly Stage[];
  readonly attributes: Attributes;
}

interface Request {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly stages: readonly Stage[];
  readonly attributes: Attributes;
  readonly failed: boolean;
}

export class OwnTraces {
  readonly #excluded: ReadonlySet<string>;
  readonly #logger: Logger;
  /** Looks up the provider at the first span, because a provider may be registered after this constructor. */
  readonly #tracer: Tracer = trace.getTracer(SCOPE);
  #isProviderChecked = false;

  constructor({ exclude_projects }: TracesOptions, logger: Logger) {
    this.#excluded = new Set(exclude_projects);
    this.#logger = logger;
  }

  begin(request: Context): RequestTrace {
    return new RequestTrace(request, this);
  }

  /**
   * No spans for requests without a known project, so that a client without a key cannot cause traffic. None for
   * excluded projects either: they may receive these spans, and each span would cause the next one.
   */
  wants(project: string | null): boolean {
    return project !== null && !this.#excluded.has(project);
  }

  /** Never throws, because the request is already answered. */
  report(request: Request): void {
    try {
      if (!this.#isProviderChecked) this.#checkProvider();
      this.#emit(request, Date.now() - performance.now());
    } catch (error) {
      this.#logger.warn({ error }, 'the tracer provider failed');
    }
  }

  #checkProvider(): void {
    this.#isProviderChecked = true;
    const provider = trace.getTracerProvider();
    if (provider instanceof ProxyTracerProvider && provider.getDelegateTracer(SCOPE) === undefined) {
      this.#logger.warn({}, 'traces are enabled, but no tracer provider is registered: no spans are recorded');
    }
  }

  /**
   * `epoch` converts times to the wall clock. All spans of a request use the same value, so that children lie within
   * parents.
   */
  #emit({ name, start, end, stages, attributes, failed }: Request, epoch: number): void {
    const options = { kind: SpanKind.SERVER, startTime: epoch + start, attributes };
    // A root span: the sender's trace is content and is not continued. The active context still applies, for suppressed
    // tracing.
    const span = this.#tracer.startSpan(name, { ...options, root: true });
    if (span.isRecording()) {
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      this.#emitStages(stages, trace.setSpan(context.active(), span), epoch);
    }
    span.end(epoch + end);
  }

  #emitStages(stages: readonly Stage[], parent: ReturnType<typeof context.active>, epoch: number): void {
    for (const { name, start, end, inner, attributes } of stages) {
      const span = this.#tracer.startSpan(name, { startTime: epoch + start, attributes }, parent);
      this.#emitStages(inner, trace.setSpan(parent, span), epoch);
      span.end(epoch + end);
    }
  }
}

/** The times of one request. */
export class RequestTrace {
  readonly #request: Context;
  readonly #traces: OwnTraces;
  readonly #start = performance.now();
  readonly #stages: Stage[] = [];
  #commits: Stage[] = [];
  #attributes: Attributes = {};
  #current: StageName = 'admit';
  #since = this.#start;

  constructor(request: Context, traces: OwnTraces) {
    this.#request = request;
    this.#traces = traces;
  }

  /** Begins a stage and ends the one before. */
  next(name: StageName): void {
    const now = performance.now();
    this.#close(now);
    this.#current = name;
    this.#since = now;
  }

  note(attributes: Attributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  /** The commit that settled the request, with the number of its requests. */
  committed(start: number, requests: number): void {
    const attributes = { 'sluice.commit.requests': requests };
    this.#commits.push({ name: 'commit', start, end: performance.now(), inner: [], attributes });
  }

  /** The request has ended. */
  finish(rejection: Rejection | null): void {
    const project = this.#request.projectName;
    if (!this.#traces.wants(project)) return;
    const { signal, transport } = this.#request.request;
    const end = performance.now();
    this.#close(end);
    const attributes = {
      'sluice.signal': signal,
      'sluice.transport': transport,
      'sluice.project': project ?? '',
      ...this.#attributes,
      ...(rejection === null ? {} : { 'sluice.refusal': diagnosticOf(rejection.code) }),
    };
    const failed = rejection !== null && rejection.refusal.status >= FIRST_FAILURE;
    this.#traces.report({
      name: `ingest ${signal}`,
      start: this.#start,
      end,
      stages: this.#stages,
      attributes,
      failed,
    });
  }

  #close(end: number): void {
    this.#stages.push({ name: this.#current, start: this.#since, end, inner: this.#commits, attributes: {} });
    this.#commits = [];
  }
}
