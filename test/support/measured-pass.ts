/** One pass over a body, as the pipeline makes it, with the processor time of each stage. */
import { Capabilities } from '../../src/component/capabilities/capability.ts';
import type { Host } from '../../src/component/component.ts';
import type { Processor } from '../../src/component/processor.ts';
import { Rejection } from '../../src/errors.ts';
import { ChunkPool } from '../../src/pdata/chunk-pool.ts';
import { Context, type Encoding, type Signal } from '../../src/pdata/context.ts';
import { finish } from '../../src/pdata/steps.ts';
import { encodeRows, type RowFormat } from '../../src/pdata/encode-rows.ts';
import { Intake } from '../../src/pdata/index-body.ts';
import { environment } from '../../src/processors/environment/environment.ts';
import { normalization } from '../../src/processors/normalization/normalization.ts';
import { pricing } from '../../src/processors/pricing/pricing.ts';
import { privacy } from '../../src/processors/privacy/privacy.ts';
import { PRESET_NAMES } from '../../src/processors/privacy/redaction/presets.ts';

const FORMATS: readonly RowFormat[] = ['ndjson', 'copy', 'otlp'];
const COUNTER = { add: (): void => {} };
const METER = { counter: () => COUNTER, histogram: () => ({ record: (): void => {} }), gauge: (): void => {} };

/** The configuration for a body: capture off, every preset. */
export type PassMode = 'plain' | 'uncaptured' | 'redacting' | 'patterns';

export interface PassBody {
  readonly signal: Signal;
  readonly encoding: Encoding;
  readonly mode: PassMode;
}

export interface MeasuredRun {
  /** Milliseconds of processor time by stage. */
  readonly stages: Readonly<Record<string, number>>;
  /** `ok`, or the code of the refusal. */
  readonly outcome: string;
}

const PATTERNS = [
  { name: 'ticket', pattern: 'TCK-[0-9]{6}' },
  { name: 'digits', pattern: '[0-9]{9,}' },
  { name: 'names', pattern: '(?:alice|bob|carol|dave|erin|frank|grace|heidi|ivan|judy) (?:smith|jones|miller)' },
  { name: 'spaced', pattern: '[A-Z][a-z]+ [A-Z][a-z]+ [A-Z][a-z]+' },
] as const;

export class MeasuredPass {
  readonly #intake = new Intake();
  readonly #pool = new ChunkPool();
  readonly #processors: Readonly<Record<PassMode, readonly (readonly [name: string, processor: Processor])[]>>;

  private constructor(shared: readonly (readonly [string, Processor])[], host: Host) {
    const withPrivacy = (options: object): readonly (readonly [string, Processor])[] => [
      ['environment', environment.create({ default: 'default' }, host)],
      ['privacy', privacy.create({ capture_content: true, environments: {}, redact: [], ...options }, host)],
      ...shared,
    ];
    this.#processors = {
      plain: withPrivacy({}),
      uncaptured: withPrivacy({ capture_content: false }),
      redacting: withPrivacy({ redact: PRESET_NAMES.map((preset) => ({ preset })) }),
      patterns: withPrivacy({ redact: PATTERNS }),
    };
    for (const processors of Object.values(this.#processors))
      for (const [, processor] of processors) processor.prepare?.(this.#intake.tables);
  }

  static async open(): Promise<MeasuredPass> {
    const host = {
      id: 'measured',
      meter: METER,
      capabilities: new Capabilities(),
      now: Date.now,
      process,
      logger: { warn: (): void => {} },
    } as unknown as Host;
    const priced = pricing.create({}, host);
    await priced.start?.();
    return new MeasuredPass(
      [
        ['normalization', normalization.create({}, host)],
        ['pricing', priced],
      ],
      host,
    );
  }

  run({ signal, encoding, mode }: PassBody, body: Uint8Array): MeasuredRun {
    const stages: Record<string, number> = {};
    const timed = <T>(stage: string, work: () => T): T => {
      const before = process.cpuUsage();
      try {
        return work();
      } finally {
        const { user, system } = process.cpuUsage(before);
        stages[stage] = (user + system) / 1000;
      }
    };
    try {
      const context = new Context({ signal, transport: 'http', authorization: undefined });
      const batch = timed('index', () => this.#intake.index(signal, encoding, body, context));
      batch.context.credential = {
        project: { name: 'demo', plan: 'paid', monthlySpans: null, privacy: new Map() },
        environment: null,
        keyId: 'static:0',
      };
      for (const [name, processor] of this.#processors[mode])
        timed(name, () => {
          const steps = processor.process?.(batch);
          if (steps !== undefined) finish(steps);
        });
      batch.tables.stamp(batch.tables.constant('demo'), 0n);
      for (const format of FORMATS) timed(format, () => encodeRows(batch, format, this.#pool).release());
      return { stages, outcome: 'ok' };
    } catch (error) {
      if (error instanceof Rejection) return { stages, outcome: error.code };
      return { stages, outcome: `FAULT ${error instanceof Error ? error.message.slice(0, 60) : String(error)}` };
    }
  }
}
