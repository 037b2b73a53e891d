/** Bodies through the real intake and the processor, read back as the lines the file sink would write. */
import { Context } from '../../../src/model/context.ts';
import type { Encoding, Signal } from '../../../src/model/context.ts';
import { ChunkPool } from '../../../src/model/chunk-pool.ts';
import type { Batch } from '../../../src/model/batch.ts';
import { encodeRows } from '../../../src/otlp/encode.ts';
import { Intake } from '../../../src/otlp/intake.ts';
import { normalization } from '../../../src/processors/normalization/normalization.ts';

export type Row = Readonly<Record<string, unknown>>;

export class Normalized {
  readonly intake = new Intake();
  readonly #pool = new ChunkPool();
  readonly processor = normalization.create({}, undefined as never);

  constructor() {
    this.processor.prepare?.(this.intake.tables);
  }

  batch(signal: Signal, encoding: Encoding, body: Uint8Array): Batch {
    return this.intake.index(signal, encoding, body, new Context({ signal, authorization: undefined }));
  }

  /** The rows of a body. `mark` may give verdicts before the processor runs, as privacy does. */
  rows(signal: Signal, encoding: Encoding, body: Uint8Array, mark?: (batch: Batch) => void): Row[] {
    const batch = this.batch(signal, encoding, body);
    mark?.(batch);
    this.processor.process?.(batch);
    const rows = encodeRows(batch, 'ndjson', this.#pool);
    const text = Buffer.concat(rows.chunks).toString('utf8');
    rows.release();
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
  }
}
