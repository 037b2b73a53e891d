/** The prices of the models that the project uses, and whose prices they are. */
import type { JSX } from 'preact';
import type { ModelPriceShape, PriceShape, PriceSource } from '../../../api/shapes/management.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { Name, Part } from '../../parts/basics.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/states.tsx';
import { exactly, UNKNOWN } from '../../text/figures.ts';

const RATES = [
  ['input', 'Input'],
  ['cache_read', 'Cached'],
  ['output', 'Output'],
] as const;
const SOURCES: Readonly<Record<PriceSource, string>> = {
  project: 'stored for this project',
  all_projects: 'stored for all projects',
  configuration: 'configuration',
  corrections: 'built-in corrections',
  bundled: 'built-in list',
  file: 'list of a file',
};
/** The beginnings of a `price_id`. */
const LISTS: Readonly<Record<string, string>> = {
  'genai-prices': SOURCES.bundled,
  supplement: SOURCES.corrections,
  user: SOURCES.configuration,
  stored: 'stored',
};

interface PricesAnswer {
  readonly items: readonly PriceShape[];
  readonly known: boolean;
}

export function Prices({ project }: { project: string }): JSX.Element {
  const prices = useAnswer<PricesAnswer>(projectPath(project, 'prices'));
  return (
    <Part title="Model prices">
      <p class="muted">
        USD per million tokens, for the models of the newest calls. <code>sluice prices set</code> stores a price of
        your own.
      </p>
      <Loaded of={prices}>
        {({ items, known }) =>
          items.length === 0 ? (
            <p class="muted">No model has been called yet.</p>
          ) : (
            <>
              <DataTable label="Model prices" columns={columnsOf(known)} numbersFrom={3}>
                {items.map((row) => (
                  <PriceRow key={JSON.stringify([row.provider, row.model])} row={row} known={known} />
                ))}
              </DataTable>
              {known ? null : (
                <p class="muted">
                  The daemon prices in other processes; <code>sluice prices check</code> shows the rates.
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </Part>
  );
}

function PriceRow({ row, known }: { row: PriceShape; known: boolean }): JSX.Element {
  const { provider, model, price } = row;
  return (
    <tr>
      <th scope="row">{model === null ? UNKNOWN : <Name text={model} />}</th>
      <td>{provider === null ? UNKNOWN : <Name text={provider} />}</td>
      <td class="price-source" title={price === null ? (row.price_id ?? undefined) : detailsOf(price)}>
        <Source row={row} known={known} />
      </td>
      {known
        ? RATES.map(([kind]) => (
            <td class="number" key={kind}>
              {rateOf(price, kind)}
            </td>
          ))
        : null}
      <td class="number">{exactly(row.call_count)}</td>
    </tr>
  );
}

function Source({ row, known }: { row: PriceShape; known: boolean }): JSX.Element {
  const { price, price_id: id } = row;
  const stated = row.stated_count > 0 ? 'stated by the sender' : null;
  if (price !== null) {
    const { source, version, effective_from: from } = price;
    // The other versions are hashes of entries.
    const which =
      source === 'bundled' ? ` ${version.split('+')[0]}` : from === null ? '' : ` from ${from.slice(0, 10)}`;
    return (
      <>
        {stated === null ? '' : `${stated}, else `}
        {SOURCES[source]}
        {which}
      </>
    );
  }
  if (stated !== null) return <>{stated}</>;
  if (!known && id !== null) return <>{listOf(id)}</>;
  return <span class="warn">no price</span>;
}

const columnsOf = (known: boolean): readonly string[] => [
  ...['Model', 'Provider', 'Source'],
  ...(known ? RATES.map(([, name]) => name) : []),
  'Calls',
];

/** `genai-prices@0.1.8+91a9f7d8b0186e09 openai/gpt-5 …`; the other versions are hashes. */
function listOf(id: string): string {
  const [, list = '', version = ''] = /^([a-z-]+)@([\d.]*)/u.exec(id) ?? [];
  const name = LISTS[list] ?? SOURCES.file;
  return list === 'genai-prices' ? `${name} ${version}` : name;
}

/** Without a rate of their own, cached tokens cost as much as others. */
function rateOf(price: ModelPriceShape | null, kind: (typeof RATES)[number][0]): string {
  const rate = price?.rates[kind] ?? (kind === 'cache_read' ? price?.rates['input'] : undefined);
  return rate === undefined ? UNKNOWN : `$${rate}`;
}

function detailsOf({ entry, version, evidence, rates }: ModelPriceShape): string {
  const all = Object.entries(rates).map(([kind, rate]) => `${kind.replaceAll('_', ' ')} $${rate}`);
  return [`${entry}, version ${version}`, ...all, ...(evidence === null ? [] : [evidence])].join('\n');
}
