/**
 * A table of rows of one height, of which only those in sight exist. The table has the focus and names its active row,
 * so the arrow keys also reach rows that do not exist yet.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { type Shortcuts, useKeys } from '../state/keys.ts';
import { useRows } from './virtual.ts';

const HEADER_PX = 28;

export interface Column {
  readonly name: string;
  readonly title?: string;
  readonly class?: string;
}

interface RowProps {
  readonly key: string;
  readonly class?: string | undefined;
  readonly level?: number;
  readonly expanded?: boolean | undefined;
  readonly selected?: boolean;
}

interface GridProps<Row> {
  readonly label: string;
  readonly role?: 'grid' | 'treegrid';
  readonly class: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly height: number;
  readonly active: number;
  readonly onActive: (index: number) => void;
  readonly onOpen?: (row: Row, event: Event) => void;
  readonly rowOf: (row: Row, index: number) => RowProps;
  readonly cells: (row: Row) => ComponentChildren;
  readonly keys?: Shortcuts;
  readonly onEnd?: () => void;
  readonly footer?: ComponentChildren;
}

export function Grid<Row>(props: GridProps<Row>): JSX.Element {
  const { height, active, onActive, onOpen } = props;
  const count = props.rows.length;
  const [first] = props.rows;
  const current = props.rows[active];
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  // Where the reader left the page that they return to.
  useLayoutEffect(() => {
    if (scroller.current !== null) scroller.current.scrollTop = Number(history.state);
  }, []);
  const rows = useRows(scroller, count, height, HEADER_PX);
  const move = (to: number): void => {
    if (count === 0) return;
    onActive(Math.max(0, Math.min(count - 1, to)));
  };
  const keys: Shortcuts = {
    j: () => move(active + 1),
    k: () => move(active - 1),
    ArrowDown: () => move(active + 1),
    ArrowUp: () => move(active - 1),
    PageDown: () => move(active + rows.page),
    PageUp: () => move(active - rows.page),
    Home: () => move(0),
    End: () => move(count - 1),
    Enter: (event) => current !== undefined && onOpen?.(current, event),
    ...props.keys,
  };
  useKeys(keys, scroller);
  useEffect(() => {
    if (active >= 0 && active < count) rows.reveal(active);
  }, [active, count === 0]);
  const last = rows.indexes.at(-1) ?? -1;
  useEffect(() => {
    if (count > 0 && last >= count - 1) props.onEnd?.();
  }, [last, count]);
  const isRendered = rows.indexes.includes(active);
  return (
    <div
      class={`grid ${props.class}`}
      role={props.role ?? 'grid'}
      aria-label={props.label}
      aria-multiselectable={first === undefined || props.rowOf(first, 0).selected === undefined ? undefined : true}
      aria-rowcount={count + 1}
      aria-activedescendant={isRendered ? `${id}-${active}` : undefined}
      tabIndex={0}
      ref={scroller}
    >
      <div class="grid-head" role="row" aria-rowindex={1}>
        {props.columns.map(({ name, title, class: className }) => (
          <span key={name} role="columnheader" class={className} title={title}>
            {name === '' ? <span class="hidden-title">{title}</span> : name}
          </span>
        ))}
      </div>
      <div class="grid-body" role="presentation" style={{ height: `${count * height}px` }}>
        {rows.indexes.map((index) => {
          const row = props.rows[index] as Row;
          const { key, class: className, level, expanded, selected } = props.rowOf(row, index);
          return (
            <div
              key={key}
              id={`${id}-${index}`}
              role="row"
              class={`grid-row ${className ?? ''} ${index === active ? 'active' : ''} ${selected === true ? 'picked' : ''}`}
              aria-rowindex={index + 2}
              aria-level={level}
              aria-expanded={expanded}
              aria-selected={selected ?? index === active}
              tabIndex={-1}
              style={{ height: `${height}px`, transform: `translateY(${index * height}px)` }}
              onClick={(event) => {
                onActive(index);
                if (!(event.target instanceof Element && event.target.closest('a, button, input') !== null))
                  onOpen?.(row, event);
              }}
            >
              {props.cells(row)}
            </div>
          );
        })}
      </div>
      {props.footer === undefined ? null : (
        <div role="row">
          <div class="grid-foot" role="gridcell">
            {props.footer}
          </div>
        </div>
      )}
    </div>
  );
}

export function Cell({ class: className, title, children }: CellProps): JSX.Element {
  return (
    <span role="gridcell" class={className} title={title}>
      {children}
    </span>
  );
}

interface CellProps {
  readonly class?: string;
  readonly title?: string | undefined;
  readonly children?: ComponentChildren;
}
