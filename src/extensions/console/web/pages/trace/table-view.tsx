/** The spans of a trace as a flat table: sorted by a column, or summed up by name, model, tool or service. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type Span, type Spans, countedCost } from '../../data/spans.ts';
import { Name, Tabs } from '../../parts/basics.tsx';
import { Cell, Grid } from '../../parts/grid.tsx';
import { Icon } from '../../parts/icon.tsx';
import { hrefWith, open, parameter, setQuery } from '../../state/location.ts';
import { isNarrow } from '../../state/width.ts';
import { cost, exactly, tokens, tookMs } from '../../text/figures.ts';
import { Category } from '../../parts/category.tsx';

const ROW_PX = 28;
const GROUPS = ['name', 'model', 'tool', 'service', 'category'] as const;
type Group = (typeof GROUPS)[number];
const SORTS = ['start', 'took', 'cost', 'tokens'] as const;
type Sort = (typeof SORTS)[number];

const VALUE: Readonly<Record<Sort, (span: Span) => number>> = {
  start: (span) => -span.index,
  took: (span) => span.duration ?? -1,
  cost: (span) => Number(span.cost ?? -1),
  tokens: (span) => Number(span.input ?? 0) + Number(span.output ?? 0),
};

export function SpanTable({ spans }: { spans: Spans }): JSX.Element {
  const group = GROUPS.find((each) => each === parameter('by')) ?? null;
  return (
    <div class="table-view">
      <Tabs
        legend="Rows"
        options={[['', 'spans'], ...GROUPS.map((each) => [each, `by ${each}`] as const)]}
        chosen={group ?? ''}
        onChoose={(each) => setQuery({ by: each || null })}
      />
      {group === null ? <FlatTable spans={spans} /> : <GroupTable spans={spans} group={group} />}
    </div>
  );
}

function FlatTable({ spans }: { spans: Spans }): JSX.Element {
  const sort = SORTS.find((each) => each === parameter('sort')) ?? 'start';
  const [active, setActive] = useState(-1);
  const rows = useMemo(() => [...spans.all].sort((a, b) => VALUE[sort](b) - VALUE[sort](a)), [spans, sort]);
  return (
    <>
      <Tabs
        legend="Order"
        options={SORTS.map((each) => [each, each])}
        chosen={sort}
        onChoose={(each) => setQuery({ sort: each === 'start' ? null : each })}
      />
      <Grid
        label="Spans"
        class="flat-grid"
        columns={[
          { name: 'Start', class: 'f-start' },
          { name: 'Span', class: 'f-name' },
          { name: 'Service', class: 'f-service' },
          { name: 'Took', class: 'f-took' },
          { name: 'Tokens', class: 'f-tokens' },
          { name: 'Cost', class: 'f-cost' },
        ]}
        rows={rows}
        height={ROW_PX}
        active={active}
        onActive={setActive}
        onOpen={({ id }) => open(`${hrefWith({ view: null, by: null, sort: null })}#s=${id}`)}
        rowOf={({ index, isError }) => ({ key: String(index), class: isError ? 'bad-row' : '' })}
        cells={(span) => <FlatCells span={span} />}
      />
    </>
  );
}

function FlatCells({ span }: { span: Span }): JSX.Element {
  return (
    <>
      <Cell class="f-start">+{tookMs(span.start)}</Cell>
      <Cell class="f-name">
        <Category category={span.category} />
        {span.isError ? (
          <span class="bad-text" title="error">
            <Icon name="error" size={14} />
          </span>
        ) : null}
        <Name text={span.name} />
      </Cell>
      <Cell class="f-service">{span.service === null ? '–' : <Name text={span.service} />}</Cell>
      <Cell class="f-took">{tookMs(span.duration)}</Cell>
      <Cell class="f-tokens">
        {span.input === null && span.output === null ? '' : tokens(span.input, span.cached, span.output)}
      </Cell>
      <Cell class={`f-cost ${span.counts ? '' : 'muted'}`}>{span.cost === null ? '' : cost(span.cost)}</Cell>
    </>
  );
}

interface Sum {
  readonly key: string;
  readonly count: number;
  readonly total: number;
  readonly p50: number;
  readonly p95: number;
  readonly errors: number;
  readonly cost: string | null;
}

function GroupTable({ spans, group }: { spans: Spans; group: Group }): JSX.Element {
  const sums = useMemo(() => sumsOf(spans.all, group), [spans, group]);
  return (
    <div class="scroll" role="region" aria-label={`By ${group}`} tabIndex={0}>
      <table class="data-table">
        <thead>
          <tr>
            {[group, 'spans', 'sum', 'p50', 'p95', 'errors', 'cost'].map((name, at) => (
              <th key={name} scope="col" class={at === 0 ? '' : 'number'}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sums.map((sum) => (
            <tr key={sum.key}>
              <th scope="row">
                <Name text={sum.key} />
              </th>
              <td class="number">{exactly(sum.count)}</td>
              <td class="number">{tookMs(sum.total)}</td>
              <td class="number">{tookMs(sum.p50)}</td>
              <td class="number">{tookMs(sum.p95)}</td>
              <td class={`number ${sum.errors > 0 ? 'bad-text' : ''}`}>{exactly(sum.errors)}</td>
              <td class="number">{isNarrow.value && sum.cost === null ? '' : cost(sum.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function sumsOf(spans: readonly Span[], group: Group): readonly Sum[] {
  const groups = new Map<string, Span[]>();
  for (const span of spans) {
    const key = span[group];
    if (key === null) continue;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [span]);
    else known.push(span);
  }
  return [...groups].map(([key, members]) => sumOf(key, members)).sort((a, b) => b.total - a.total);
}

function sumOf(key: string, members: readonly Span[]): Sum {
  const durations = members.flatMap(({ duration }) => (duration === null ? [] : [duration])).sort((a, b) => a - b);
  const at = (share: number): number =>
    durations[Math.min(durations.length - 1, Math.floor(share * durations.length))] ?? 0;
  return {
    key,
    count: members.length,
    total: durations.reduce((sum, ms) => sum + ms, 0),
    p50: at(0.5),
    p95: at(0.95),
    errors: members.filter(({ isError }) => isError).length,
    cost: countedCost(members),
  };
}
