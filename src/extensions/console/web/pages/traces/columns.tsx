/** The columns of the list of traces. The reader chooses which ones are shown. */
import type { JSX } from 'preact';
import type { TraceRow } from '../../../api/shapes/traces.ts';
import { Link, Name } from '../../parts/basics.tsx';
import { type Column, Cell } from '../../parts/grid.tsx';
import { Icon } from '../../parts/icon.tsx';
import { pageHref } from '../../state/location.ts';
import { DEFAULT_COLUMNS, traceColumns } from '../../state/settings.ts';
import { age, cost, exactCost, exactly, exactTokens, plural, tokensOf, took, UNKNOWN } from '../../text/figures.ts';
import { dateTime, msOf } from '../../text/time.ts';

/** What a cell needs of the list. */
export interface ListFacts {
  readonly nowMs: number;
  /** The longest duration of a row. */
  readonly longest: number;
  readonly manyEnvironments: boolean;
  readonly shown: ReadonlySet<string>;
}

export interface TraceColumn extends Column {
  readonly id: string;
  readonly class: string;
  cell(row: TraceRow, facts: ListFacts): JSX.Element;
}

const textColumn = (id: string, name: string, read: (row: TraceRow) => string | null): TraceColumn => ({
  id,
  name,
  class: 'c-text',
  cell: (row) => {
    const text = read(row);
    return <Cell class="c-text">{text === null ? UNKNOWN : <Name text={text} />}</Cell>;
  },
});

const ALL: readonly TraceColumn[] = [
  {
    id: 'age',
    name: 'Age',
    class: 'c-age',
    cell: (row, { nowMs }) => {
      const startMs = msOf(row.start_time_unix_nano);
      return (
        <Cell class="c-age" title={dateTime(startMs)}>
          {age(nowMs - startMs)}
        </Cell>
      );
    },
  },
  {
    id: 'start',
    name: 'Start',
    class: 'c-start',
    cell: (row) => <Cell class="c-start">{dateTime(msOf(row.start_time_unix_nano))}</Cell>,
  },
  { id: 'name', name: 'Name', class: 'c-name', cell: (row, facts) => <NameCell row={row} facts={facts} /> },
  { ...textColumn('service', 'Service', ({ service }) => service), class: 'c-service' },
  textColumn('environment', 'Environment', ({ environment }) => environment),
  textColumn('model', 'Model', ({ models }) => (models.length === 0 ? null : models.join(', '))),
  textColumn('agent', 'Agent', ({ agent }) => agent),
  textColumn('user', 'User', ({ user_id: user }) => user),
  textColumn('conversation', 'Conversation', ({ conversation_id: conversation }) => conversation),
  {
    id: 'calls',
    name: 'Calls',
    class: 'c-calls',
    title: 'Model calls',
    cell: (row) => <Cell class="c-calls">{exactly(row.model_call_count)}</Cell>,
  },
  {
    id: 'tokens',
    name: 'Tokens',
    class: 'c-tokens',
    title: 'Input (of it from a cache) → output',
    cell: (row) => (
      <Cell class="c-tokens" title={exactTokens(row)}>
        {tokensOf(row)}
      </Cell>
    ),
  },
  { id: 'cost', name: 'Cost', class: 'c-cost', cell: (row) => <CostCell row={row} /> },
  {
    id: 'took',
    name: 'Took',
    class: 'c-took',
    cell: (row, { longest }) => (
      <Cell class="c-took">
        <span>{took(row.duration_ns)}</span>
        <span class="bar" aria-hidden="true">
          <span style={{ width: `${(100 * Number(row.duration_ns)) / longest}%` }} />
        </span>
      </Cell>
    ),
  },
  {
    id: 'spans',
    name: 'Spans',
    class: 'c-spans',
    cell: (row) => <Cell class="c-spans">{exactly(row.span_count)}</Cell>,
  },
  { id: 'errors', name: 'Errors', class: 'c-errors', cell: (row) => <ErrorsCell row={row} /> },
];

/** The name is always shown. */
const ALWAYS = 'name';
export const CHOICES = ALL.filter(({ id }) => id !== ALWAYS);

export const chosenColumns = (): ReadonlySet<string> => new Set(traceColumns.value.split(','));

export const shownColumns = (chosen: ReadonlySet<string>): readonly TraceColumn[] =>
  ALL.filter(({ id }) => id === ALWAYS || chosen.has(id));

export const hasDefaultColumns = (): boolean => traceColumns.value === DEFAULT_COLUMNS;

export function toggleColumn(id: string): void {
  const chosen = chosenColumns();
  traceColumns.value = CHOICES.filter((column) => (column.id === id) !== chosen.has(column.id))
    .map((column) => column.id)
    .join(',');
}

export function resetColumns(): void {
  traceColumns.value = DEFAULT_COLUMNS;
}

export const hrefOf = ({ trace_id }: TraceRow): string => pageHref('traces', trace_id);

function NameCell({ row, facts }: { row: TraceRow; facts: ListFacts }): JSX.Element {
  const isError = row.error_count > 0;
  return (
    <Cell class="c-name">
      <span class={`dot ${isError ? 'bad' : 'good'}`} title={isError ? 'has errors' : 'no errors'} />
      {row.complete ? null : <span title="The root span is not here yet">… </span>}
      <Link href={hrefOf(row)} tabStop={false}>
        <Name text={row.name} />
      </Link>
      <Chips row={row} facts={facts} />
    </Cell>
  );
}

function CostCell({ row }: { row: TraceRow }): JSX.Element {
  const { total_cost: sum, unpriced_count: unpriced } = row;
  const facts = [sum === null ? '' : exactCost(sum), unpriced > 0 ? `${plural(unpriced, 'call')} without a price` : ''];
  return (
    <Cell class="c-cost" title={facts.filter((fact) => fact !== '').join(', ')}>
      {cost(sum)}
      {unpriced > 0 ? <span class="warn">*</span> : null}
    </Cell>
  );
}

function ErrorsCell({ row }: { row: TraceRow }): JSX.Element {
  return (
    <Cell class="c-errors">
      {row.error_count > 0 ? (
        <span class="bad-text">
          <Icon name="error" size={12} /> {exactly(row.error_count)}
        </span>
      ) : (
        '0'
      )}
    </Cell>
  );
}

/** The facts of a trace that have no column of their own. */
function Chips({ row, facts }: { row: TraceRow; facts: ListFacts }): JSX.Element {
  const { shown, manyEnvironments } = facts;
  const more = row.model_count - 1;
  const chips = [
    ['environment', manyEnvironments ? row.environment : null],
    ['agent', row.agent],
    ['user', row.user_id],
    ['conversation', row.conversation_id],
  ] as const;
  return (
    <span class="chips">
      {row.models[0] === undefined || shown.has('model') ? null : (
        <span class="chip" title={row.models.join(', ')}>
          <Name text={row.models[0]} />
          {more > 0 ? <span class="more">+{more}</span> : null}
        </span>
      )}
      {chips.map(([name, text]) =>
        text === null || shown.has(name) ? null : <Chip key={name} name={name} text={text} />,
      )}
    </span>
  );
}

const Chip = ({ name, text }: { name: string; text: string }): JSX.Element => (
  <span class="chip" title={name}>
    <Name text={text} />
  </span>
);
