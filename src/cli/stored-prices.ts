/** `sluice prices set|list|remove`: own prices in the database, for all daemons on it, without a reload. */
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { readLimitedFile } from '../component/limited-file.ts';
import { UserError } from '../errors.ts';
import {
  listPrices,
  type ListedPrice,
  ownFirst,
  removePrice,
  storePrice,
} from '../extensions/postgres/price-directory.ts';
import type { PriceEntry } from '../processors/pricing/options.ts';
import { isProblem, StoredEntries } from '../processors/pricing/stored-entry.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { flagOption, onlyWord, pairsOf, textOption, UsageError } from './options.ts';
import { loadBook, pricingOptionsOf } from './price-book.ts';
import { asJson, clean } from './view/screen-text.ts';
import { layOut } from './terminal.ts';
import { fileFault } from '../component/file-fault.ts';

const MAX_FILE_BYTES = 16 * 1024 * 1024;
const PROJECT = {
  project: textOption('NAME', 'The project that it applies to', { short: 'p', otherwise: 'every project' }),
};

export const commands: Readonly<Record<string, Command>> = {
  set: {
    description:
      'Stored prices win over those of the configuration. The price stored last wins, and prices of a project win over those for every\nproject. Daemons use it from the next request. A complete entry with periods, tiers or windows comes from a file in the form of\npricing.overrides.',
    options: {
      ...CONFIG_OPTIONS,
      ...PROJECT,
      model: textOption('NAME', 'The model, as telemetry names it'),
      provider: textOption('NAME', 'The provider, as telemetry names it', { otherwise: 'any' }),
      rates: textOption('LIST', 'USD per million tokens, such as input=2.50,output=10,cache_read=1.25'),
      from: textOption('TIME', 'The first time at which it applies', { otherwise: 'always' }),
      file: textOption('FILE', 'A YAML file with an entry, or a list of them, instead'),
    },
    examples: [
      ['sluice prices set our-model --model my-llama --rates input=0.20,output=0.60', 'for every project'],
      ['sluice prices set --file prices.yaml --project shop', 'entries of a file, for one project'],
    ],
    run: (call) =>
      withDatabase(call, 'write', async (database, { config }) => {
        const project = call.values.text('project') ?? null;
        const book = await loadBook(call, pricingOptionsOf(config));
        const entries = entriesOf(call).map(checked);
        const twice = entries.find(({ id }, index) => entries.findIndex((entry) => entry.id === id) < index);
        if (twice !== undefined) throw new UserError(`two entries have the id "${twice.id}"`, 'Nothing was stored.');
        book.withStored(entries, (entry, { path, message }) => {
          throw new UserError(`the price "${entry.id}" is invalid: ${path} ${message}`, 'Nothing was stored.');
        });
        // The first entry of a list has precedence, and the price stored last has precedence.
        for (const entry of entries.toReversed()) await storePrice(database, { id: entry.id, project, entry });
        for (const { id } of entries) call.terminal.print(`Stored the price ${id} for ${project ?? 'every project'}.`);
      }),
  },
  list: {
    options: {
      ...CONFIG_OPTIONS,
      project: textOption('NAME', 'Only those that apply to one project', { short: 'p' }),
      json: flagOption('Print JSON'),
    },
    examples: [['sluice prices list', 'list them']],
    run: (call) =>
      withDatabase(call, 'read', async (database) => {
        const project = call.values.text('project') ?? null;
        const prices = (await listPrices(database, project)).toSorted(ownFirst);
        call.terminal.print(call.values.flag('json') ? asJson(prices) : table(prices));
      }),
  },
  remove: {
    options: { ...CONFIG_OPTIONS, ...PROJECT },
    examples: [['sluice prices remove our-model', 'the price lists apply again']],
    run: (call) =>
      withDatabase(call, 'write', async (database) => {
        const id = onlyWord(call, 'ID');
        const project = call.values.text('project') ?? null;
        if (!(await removePrice(database, id, project)))
          throw new UserError(
            `no price "${id}" is stored for ${project === null ? 'every project' : `the project "${project}"`}`,
            'See `sluice prices list`; --project names the project it was stored for.',
          );
        call.terminal.print(`Removed the price ${id}.`);
      }),
  },
};

/** The entries to store, unchecked: from a file, or from the options. */
function entriesOf(call: Call): readonly unknown[] {
  const { values, words } = call;
  const file = values.text('file');
  if (file !== undefined) {
    if (words.length > 0 || values.text('model') !== undefined)
      throw new UsageError('--file holds whole entries', 'leave out ID, --model, --provider, --rates and --from');
    return [readEntries(resolve(call.process.cwd(), file))].flat();
  }
  const [id] = words;
  const model = values.text('model');
  const rates = values.text('rates');
  if (id === undefined || model === undefined || rates === undefined)
    throw new UsageError('ID, --model and --rates are needed', 'or --file with whole entries');
  const provider = values.text('provider');
  const from = values.text('from');
  return [
    // Rates stay strings, so that no digit is lost.
    {
      id,
      match: { ...(provider === undefined ? {} : { provider }), model },
      prices: [{ ...(from === undefined ? {} : { from }), rates: Object.fromEntries(pairsOf('rates', rates)) }],
    },
  ];
}

function readEntries(path: string): unknown {
  try {
    return parse(readLimitedFile(path, { maxBytes: MAX_FILE_BYTES, pipes: true }).toString('utf8')) as unknown;
  } catch (error) {
    throw new UserError(`${path} cannot be read: ${fileFault(error)}`);
  }
}

function checked(entry: unknown): PriceEntry {
  const id = typeof entry === 'object' && entry !== null && 'id' in entry ? String(entry.id) : '';
  const read = new StoredEntries().read(id, entry);
  if (!isProblem(read)) return read;
  throw new UserError(
    `${id === '' ? 'an entry' : `the price "${clean(id)}"`} is invalid: ${`${read.path} ${read.message}`.trim()}`,
    'Nothing was stored. The form is that of pricing.overrides: docs/configuration.md.',
  );
}

function table(prices: readonly ListedPrice[]): string {
  if (prices.length === 0) return 'No prices are stored. The prices of the configuration and of the price lists apply.';
  const entries = new StoredEntries();
  const lines = prices.map(({ id, project, entry, storedAt }) => {
    const read = entries.read(id, entry);
    const what = isProblem(read) ? `mistaken: ${read.path} ${read.message}` : JSON.stringify(read.match);
    return [clean(id), project ?? 'every', clean(what), storedAt.toISOString().slice(0, 10)];
  });
  return layOut([['ID', 'PROJECT', 'MATCHES', 'STORED'], ...lines]);
}
