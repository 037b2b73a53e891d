/** The spans of two traces, summed up by their names. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Span } from '../../data/spans.ts';
import { Name } from '../../parts/basics.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { exactly, tookMs } from '../../text/figures.ts';
import { type Side, difference } from './side.ts';

const SHOWN = 500;

interface Sums {
  readonly count: number;
  readonly ms: number;
}

const NOTHING: Sums = { count: 0, ms: 0 };

export function SpanNames({ a, b }: { a: Side; b: Side }): JSX.Element {
  const [left, right] = useMemo(() => [a, b].map(({ spans }) => sumsOf(spans.all)), [a, b]);
  const names = [...new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])])];
  const rows = names
    .map((name) => ({ name, a: left?.get(name) ?? NOTHING, b: right?.get(name) ?? NOTHING }))
    .sort((x, y) => Math.abs(y.b.ms - y.a.ms) - Math.abs(x.b.ms - x.a.ms));
  return (
    <DataTable
      label="Spans by name"
      columns={['Name', 'Spans A', 'Spans B', 'Time A', 'Time B', 'B against A']}
      numbersFrom={1}
    >
      {rows.slice(0, SHOWN).map((row) => (
        <tr key={row.name}>
          <th scope="row">
            <Name text={row.name} />
          </th>
          <td class="number">{exactly(row.a.count)}</td>
          <td class="number">{exactly(row.b.count)}</td>
          <td class="number">{tookMs(row.a.ms)}</td>
          <td class="number">{tookMs(row.b.ms)}</td>
          <td class="number">{difference(row.a.ms, row.b.ms, tookMs)}</td>
        </tr>
      ))}
    </DataTable>
  );
}

function sumsOf(spans: readonly Span[]): ReadonlyMap<string, Sums> {
  const sums = new Map<string, Sums>();
  for (const { name, duration } of spans) {
    const { count, ms } = sums.get(name) ?? NOTHING;
    sums.set(name, { count: count + 1, ms: ms + (duration ?? 0) });
  }
  return sums;
}
