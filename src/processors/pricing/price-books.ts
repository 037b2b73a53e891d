/**
 * The price books in force: stored prices before those of the configuration, one book for all projects and one for each
 * project with prices of its own. They are rebuilt ahead of a pass, after an announced change or after a fixed time,
 * never during one.
 */
import type { Host } from '../../component/component.ts';
import type { PriceDirectory, StoredPrice } from '../../component/capabilities/price-directory.ts';
import type { Counter } from '../../component/meter.ts';
import type { PriceEntry } from './options.ts';
import type { PriceBook } from './price-book.ts';
import type { PricingProblem } from './price-entry.ts';
import { isProblem, StoredEntries } from './stored-entry.ts';

/** Announcements can be missed, so stored prices are read again after this time. */
const LIFE_MS = 60_000;
/** After a failed read they are read again after this time. */
const RETRY_MS = 1000;

export interface Dependencies {
  readonly directory: PriceDirectory | undefined;
  readonly host: Host;
  /** Counts entries that are left out. */
  readonly faults: Counter;
}

export class PriceBooks {
  readonly #base: PriceBook;
  readonly #directory: PriceDirectory | undefined;
  readonly #host: Host;
  readonly #faults: Counter;
  #entries: StoredEntries | null = null;
  #general: PriceBook;
  #byProject: ReadonlyMap<string, PriceBook> = new Map();
  #count = 0;
  /** Entries with a mistake: each is logged once until it changes. */
  #told: ReadonlySet<string> = new Set();
  #loading: Promise<void> | null = null;
  /** Announced changes, and how many of them the last read included. The first read counts as a change. */
  #announced = 1;
  #known = 0;
  #hasFailed = false;
  #goodUntil = 0;

  constructor(base: PriceBook, { directory, host, faults }: Dependencies) {
    this.#base = base;
    this.#general = base;
    this.#directory = directory;
    this.#host = host;
    this.#faults = faults;
  }

  /** How many stored prices are in force. */
  get count(): number {
    return this.#count;
  }

  of(project: string): PriceBook {
    return this.#byProject.get(project) ?? this.#general;
  }

  /** Prices changed: the next request waits for a read. */
  outdate(): void {
    this.#announced++;
  }

  /** Call it ahead of each pass. Waits only for an announced change that is not read yet; never rejects. */
  refresh(): Promise<void> | void {
    if (this.#directory === undefined) return;
    const isBehind = this.#known < this.#announced;
    if (!isBehind && this.#host.now() < this.#goodUntil) return;
    this.#loading ??= this.#load(this.#directory).finally(() => {
      this.#loading = null;
    });
    if (isBehind) return this.#loading;
  }

  async #load(directory: PriceDirectory): Promise<void> {
    // The read may miss a change that is announced from here on.
    const announced = this.#announced;
    try {
      this.#use(await directory.readPrices());
      this.#goodUntil = this.#host.now() + LIFE_MS;
      this.#hasFailed = false;
    } catch (error) {
      this.#goodUntil = this.#host.now() + RETRY_MS;
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      const message = error instanceof Error ? error.message : String(error);
      this.#host.logger.warn({ error: message }, 'stored prices could not be read: the last ones stay in force');
    } finally {
      this.#known = announced;
    }
  }

  #use(stored: readonly StoredPrice[]): void {
    const told = new Set<string>();
    const sources = new Map<PriceEntry, StoredPrice>();
    for (const price of stored) {
      this.#entries ??= new StoredEntries();
      const read = this.#entries.read(price.id, price.entry);
      if (isProblem(read)) this.#tell(price, read, told);
      else sources.set(read, price);
    }
    const entriesOf = (project: string | null): PriceEntry[] =>
      [...sources].flatMap(([entry, price]) => (price.project === project ? [entry] : []));
    const general = entriesOf(null);
    const book = (entries: readonly PriceEntry[]): PriceBook =>
      this.#base.withStored(entries, (entry, problem) => this.#tell(sources.get(entry) as StoredPrice, problem, told));
    this.#general = general.length === 0 ? this.#base : book(general);
    const projects = new Set([...sources.values()].flatMap(({ project }) => project ?? []));
    // Prices of a project come before those for all.
    this.#byProject = new Map(
      [...projects].map((project) => [project, book([...entriesOf(project), ...general])] as const),
    );
    this.#count = stored.length - told.size;
    this.#told = told;
  }

  /** Logs a mistake once; it stops nothing. */
  #tell({ id, project, entry }: StoredPrice, { path, message }: PricingProblem, told: Set<string>): void {
    const key = JSON.stringify([id, project, entry]);
    if (told.has(key)) return;
    told.add(key);
    if (this.#told.has(key)) return;
    this.#faults.add(1);
    this.#host.logger.warn(
      { price: id, project, at: path, problem: message },
      'a stored price has a mistake and is ignored; see `sluice prices list`',
    );
  }
}
