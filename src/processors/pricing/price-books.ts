/**
 * The price books in force: the configuration's own, with stored prices before it, for all projects and for those that
 * have prices of their own. They are made anew ahead of a pass, when a change was announced or what was read has grown
 * old, never within one.
 */
import type { Host } from '../../component/component.ts';
import type { PriceDirectory, StoredPrice } from '../../component/capabilities/price-directory.ts';
import type { Counter } from '../../component/meter.ts';
import type { PriceEntry } from './options.ts';
import type { PriceBook } from './price-book.ts';
import type { PricingProblem } from './price-entry.ts';
import { isProblem, StoredEntries } from './stored-entry.ts';

/** Announcements can be missed; after this what was read is read again. */
const LIFE_MS = 60_000;
/** After a reading that failed. */
const RETRY_MS = 1000;

export interface Surroundings {
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
  /** Entries that were found wanting: each is told of once, as long as it stays as it is. */
  #told: ReadonlySet<string> = new Set();
  #loading: Promise<void> | null = null;
  /** Changes that were announced, and how many of them the last reading knew. The first reading is a change too. */
  #announced = 1;
  #known = 0;
  #hasFailed = false;
  #goodUntil = 0;

  constructor(base: PriceBook, { directory, host, faults }: Surroundings) {
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

  /** Something changed: the next request waits until it is known. */
  outdate(): void {
    this.#announced++;
  }

  /** To be called ahead of each pass. Waits only where a change was announced that is not read yet; never rejects. */
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
    // A change that is announced from here on may not be in what is read.
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
      this.#host.logger.warn({ error: message }, 'stored prices could not be read: those that were read last hold');
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
    // What is stored for a project comes before what is stored for all.
    this.#byProject = new Map(
      [...projects].map((project) => [project, book([...entriesOf(project), ...general])] as const),
    );
    this.#count = stored.length - told.size;
    this.#told = told;
  }

  /** A mistake must not stop anything, and nobody must be told of it with every reading. */
  #tell({ id, project, entry }: StoredPrice, { path, message }: PricingProblem, told: Set<string>): void {
    const key = JSON.stringify([id, project, entry]);
    if (told.has(key)) return;
    told.add(key);
    if (this.#told.has(key)) return;
    this.#faults.add(1);
    this.#host.logger.warn(
      { price: id, project, at: path, problem: message },
      'a stored price is mistaken and left out; see `sluice prices list`',
    );
  }
}
