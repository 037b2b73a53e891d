/** Runs records through the stages of a configured pipeline, as the daemon does, and keeps their reports. */
import { Capabilities } from '../../component/capabilities/capability.ts';
import { type CostDerivation, type Derivation, DERIVATIONS } from '../../component/capabilities/derivations.ts';
import { PRICE_DIRECTORY, type StoredPrice } from '../../component/capabilities/price-directory.ts';
import type { Host } from '../../component/component.ts';
import type { Processor } from '../../component/processor.ts';
import type { Config } from '../../config/config.ts';
import { Rejection, UserError } from '../../errors.ts';
import { ListeningSockets } from '../../net/listener.ts';
import { ChunkPool } from '../../pdata/chunk-pool.ts';
import { Context, type Encoding, type Project, type RequestInfo, type Signal } from '../../pdata/context.ts';
import { encodeRows } from '../../pdata/encode-rows.ts';
import { Intake } from '../../pdata/index-body.ts';
import { HEADER_PROJECT_LENGTH, HEADER_PROJECT_OFFSET } from '../../pdata/layout.ts';
import { finish } from '../../pdata/steps.ts';
import type { Row } from '../reader.ts';

export interface ExplainedRecord {
  /** As the file exporter would write it. */
  readonly row: Row;
  readonly derivation: Derivation | null;
  readonly cost: CostDerivation | null;
}

export interface StageParts {
  readonly config: Config;
  readonly project: Project;
  readonly prices: readonly StoredPrice[];
  readonly process: Host['process'];
  resolvePath(path: string): string;
}

/** A body of telemetry that is not stored. */
export interface Body {
  readonly signal: Exclude<Signal, 'metrics'>;
  readonly encoding: Encoding;
  readonly bytes: Uint8Array;
}

export class Stages {
  readonly #intake = new Intake({ pauses: true });
  readonly #pool = new ChunkPool();
  readonly #parts: StageParts;
  readonly #derivations = new Map<number, Derivation>();
  readonly #costs = new Map<number, CostDerivation>();
  readonly #processors = new Map<Signal, Promise<readonly Processor[]>>();

  constructor(parts: StageParts) {
    this.#parts = parts;
  }

  async explain({ signal, encoding, bytes }: Body): Promise<readonly ExplainedRecord[]> {
    const processors = await this.#processorsOf(signal);
    const request: RequestInfo = { signal, transport: 'http', authorization: undefined };
    const context = new Context(request);
    context.credential = { project: this.#parts.project, environment: null, keyId: 'explain' };
    this.#derivations.clear();
    this.#costs.clear();
    try {
      for (const processor of processors) await processor.admit?.(request, context);
      const batch = this.#intake.index(signal, encoding, bytes, context);
      const name = batch.tables.scratch(this.#parts.project.name);
      batch.tables.setHeader(HEADER_PROJECT_OFFSET, name?.offset ?? 0);
      batch.tables.setHeader(HEADER_PROJECT_LENGTH, name?.length ?? 0);
      for (const processor of processors) {
        const steps = processor.process?.(batch);
        if (steps !== undefined) finish(steps);
      }
      const rows = encodeRows(batch, 'ndjson', this.#pool);
      const lines = Buffer.concat(rows.chunks).toString('utf8').trimEnd().split('\n');
      rows.release();
      return lines.map((line, record) => ({
        row: JSON.parse(line) as Row,
        derivation: this.#derivations.get(record) ?? null,
        cost: this.#costs.get(record) ?? null,
      }));
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      const details = Object.values(error.details).join(', ');
      throw new UserError(`the daemon would refuse this: ${error.code}${details === '' ? '' : ` (${details})`}`);
    }
  }

  #processorsOf(signal: Signal): Promise<readonly Processor[]> {
    const known = this.#processors.get(signal) ?? this.#create(signal);
    this.#processors.set(signal, known);
    return known;
  }

  /** The processors of the first pipeline of the signal, but `auth`: the project is known. */
  async #create(signal: Signal): Promise<readonly Processor[]> {
    const { config, prices } = this.#parts;
    const pipeline = config.service.pipelines.find((each) => each.signal === signal);
    if (pipeline === undefined) throw new UserError(`the configuration has no pipeline for ${signal}`);
    const capabilities = new Capabilities();
    capabilities.offer(DERIVATIONS, {
      derived: (derivation) => void this.#derivations.set(derivation.record, derivation),
      priced: (cost) => void this.#costs.set(cost.record, cost),
    });
    capabilities.offer(PRICE_DIRECTORY, { readPrices: async () => prices, onChange: () => () => {} });
    const processors: Processor[] = [];
    for (const id of pipeline.processors) {
      const component = config.processors.get(id);
      if (component === undefined || component.definition.type === 'auth') continue;
      const host = this.#host(id, pipeline.id, capabilities);
      processors.push(component.definition.create(component.options, host));
    }
    for (const processor of processors) await processor.start?.();
    for (const processor of processors) processor.prepare?.(this.#intake.tables);
    return processors;
  }

  #host(id: string, pipeline: string, capabilities: Capabilities): Host {
    const nothing = (): void => {};
    return {
      id,
      pipeline,
      capabilities: capabilities.scope(`processor ${id}`),
      logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
      meter: {
        counter: () => ({ add: nothing }),
        gauge: nothing,
        histogram: () => ({ record: nothing }),
      },
      listeners: new ListeningSockets().forService(),
      now: Date.now,
      process: this.#parts.process,
      workers: 1,
      resolvePath: (path) => this.#parts.resolvePath(path),
      fatal: (error) => {
        throw error;
      },
    };
  }
}
