/**
 * The daemon's own traces, when the configuration asks for them: for each request a span, and one below it for each stage that it
 * went through. They go to whatever tracer provider is registered with @opentelemetry/api. A request only notes times on its
 * way; spans are made when it is over, so that nothing of a tracing library runs inside the pass.
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
/** From this status on a refusal is our failure, not the sender's. */
const FIRST_FAILURE = 500;

/** As the configuration has them. */
export interface TracesOptions {
  readonly exclude_projects: readonly string[];
}

export type StageName = 'admit' | 'read' | 'wait' | 'index' | 'process' | 'encode' | 'settle' | 'commit';

/** Times as `performance.now()` gives them. */
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
  /** Finds the provider at its first span: whoever registers one may be started after this was made. */
  readonly #tracer: Tracer = trace.getTracer(SCOPE);
  #looked = false;

  constructor({ exclude_projects }: TracesOptions, logger: Logger) {
    this.#excluded = new Set(exclude_projects);
    this.#logger = logger;
  }

  begin(request: Context): RequestTrace {
    return new RequestTrace(request, this);
  }

  /**
   * Nothing is made for a request whose project did not become known: nobody without a key decides what we send. Nor for
   * excluded projects, where the spans themselves may arrive: each would give cause for the next.
   */
  wants(project: string | null): boolean {
    return project !== null && !this.#excluded.has(project);
  }

  /** Never throws: the request has its answer, whatever becomes of its spans. */
  report(request: Request): void {
    try {
      if (!this.#looked) this.#lookForProvider();
      this.#emit(request, Date.now() - performance.now());
    } catch (error) {
      this.#logger.warn({ error }, 'the tracer provider failed');
    }
  }

  #lookForProvider(): void {
    this.#looked = true;
    const provider = trace.getTracerProvider();
    if (provider instanceof ProxyTracerProvider && provider.getDelegateTracer(SCOPE) === undefined) {
      this.#logger.warn({}, 'traces are enabled, but no tracer provider is registered: spans go nowhere');
    }
  }

  /** `epoch` turns times into those of the wall clock; one for all spans of a request, so that they fit into each other. */
  #emit({ name, start, end, stages, attributes, failed }: Request, epoch: number): void {
    const options = { kind: SpanKind.SERVER, startTime: epoch + start, attributes };
    // A root: what the sender says of its own trace is content, and not continued. What suppresses tracing stays in force.
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

/** What one request notes on its way. */
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

  /** The stage before it ends. */
  next(name: StageName): void {
    const now = performance.now();
    this.#close(now);
    this.#current = name;
    this.#since = now;
  }

  note(attributes: Attributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  /** The commit that the request was settled by, together with others. */
  committed(start: number, requests: number): void {
    const attributes = { 'sluice.commit.requests': requests };
    this.#commits.push({ name: 'commit', start, end: performance.now(), inner: [], attributes });
  }

  /** The request is over. */
  finish(rejection: Rejection | null): void {
    const project = this.#request.projectName;
    if (!this.#traces.wants(project)) return;
    const { signal, transport = 'http' } = this.#request.request;
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
