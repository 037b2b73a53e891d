/**
 * The dialect of a record: by markers (attributes that prove it), then by the scope name, then by hints (attributes
 * that suggest it), then by the service name. Markers come before scopes because instrumentations of different vendors
 * share scope names.
 */
import type { Dialect } from '../../dialects/dialect.ts';
import type { Batch } from '../../pdata/batch.ts';
import { KIND_TEXT } from '../../pdata/layout.ts';
import { NO_RANK, RANK_SCOPE, RANK_SERVICE } from './key-classes.ts';
import { NameTable } from './name-table.ts';

const SERVICE_KEYS = ['service.name', 'telemetry.sdk.name'];

export class Detection {
  readonly #scopes = new NameTable<number>();
  readonly #services = new NameTable<number>();
  /** The detection of the dialects of the configuration alone; null: there are none. */
  readonly #own: Detection | null;
  readonly #serviceSymbols = new Set<number>();
  #scope = -1;
  #scopeRank = NO_RANK;
  #scopeName = '';
  #resource = -1;
  #serviceRank = NO_RANK;

  /** `ownCount`: the first dialects are those of the configuration. */
  constructor(dialects: readonly Dialect[], ownCount = 0) {
    this.#own = ownCount === 0 ? null : new Detection(dialects.slice(0, ownCount));
    for (const [index, { scopes, services }] of dialects.entries()) {
      for (const scope of scopes ?? []) this.#scopes.add(scope, RANK_SCOPE + index);
      for (const service of services ?? []) this.#services.add(service, RANK_SERVICE + index);
    }
  }

  prepare(symbolOf: (key: string) => number): void {
    for (const key of SERVICE_KEYS) this.#serviceSymbols.add(symbolOf(key));
    this.#own?.prepare(symbolOf);
  }

  /** Detects the dialects of the configuration alone; null: there are none. */
  get own(): Detection | null {
    return this.#own;
  }

  begin(): void {
    this.#own?.begin();
    this.#scope = -1;
    this.#resource = -1;
  }

  /** Records of one scope are adjacent, so the last answer is nearly always the next one. */
  rankOfScope(batch: Batch, scope: number): number {
    if (scope !== this.#scope) {
      this.#scope = scope;
      const name = batch.scopeName(scope);
      // The same string object in most requests, so comparisons with it are comparisons of pointers.
      if (name !== this.#scopeName) {
        this.#scopeName = name;
        this.#scopeRank = this.#scopes.find(name) ?? NO_RANK;
      }
    }
    return this.#scopeRank;
  }

  /** The name of the last scope. */
  get scopeName(): string {
    return this.#scopeName;
  }

  rankOfService(batch: Batch, resource: number): number {
    if (resource === this.#resource) return this.#serviceRank;
    this.#resource = resource;
    this.#serviceRank = NO_RANK;
    const attributes = batch.resourceAttributes(resource);
    const rows: number[] = [];
    while (attributes.next()) {
      if (attributes.kind === KIND_TEXT && this.#serviceSymbols.has(attributes.symbol)) rows.push(attributes.row);
    }
    for (const row of rows) {
      this.#serviceRank = Math.min(this.#serviceRank, this.#services.find(batch.headOf(row) ?? '') ?? NO_RANK);
    }
    return this.#serviceRank;
  }
}
