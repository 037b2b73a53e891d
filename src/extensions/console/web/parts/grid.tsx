/**
 * A table of rows of one height, of which only those in sight exist. The table has the focus and names its active row,
 * so the arrow keys also reach rows that do not exist yet.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './basics.tsx';
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

/**
 * No function in it may use its whole properties: `footer` leads to the tree of that time, with its rows, and their
 * listeners lead to the next one. Rows that are gone would stay in memory.
 */
export function Grid<Row>({
  label,
  role = 'grid',
  class: className,
  columns,
  rows,
  height,
  active,
  onActive,
  onOpen,
  rowOf,
  cells,
  keys,
  onEnd,
  footer,
}: GridProps<Row>): JSX.Element {
  const count = rows.length;
  const [first] = rows;
  const current = rows[active];
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  // Where the reader left the page that they return to.
  useLayoutEffect(() => {
    if (scroller.current !== null) scroller.current.scrollTop = Number(history.state);
  }, []);
  const sight = useRows(scroller, count, height, HEADER_PX);
  const move = (to: number): void => {
    if (count === 0) return;
    onActive(Math.max(0, Math.min(count - 1, to)));
  };
  const own: Shortcuts = {
    j: () => move(active + 1),
    k: () => move(active - 1),
    ArrowDown: () => move(active + 1),
    ArrowUp: () => move(active - 1),
    PageDown: () => move(active + sight.page),
    PageUp: () => move(active - sight.page),
    Home: () => move(0),
    End: () => move(count - 1),
    Enter: (event) => current !== undefined && onOpen?.(current, event),
    ...keys,
  };
  useKeys(own, scroller);
  useEffect(() => {
    if (active >= 0 && active < count) sight.reveal(active);
  }, [active, count === 0]);
  const last = sight.indexes.at(-1) ?? -1;
  useEffect(() => {
    if (count > 0 && last >= count - 1) onEnd?.();
  }, [last, count]);
  const isRendered = sight.indexes.includes(active);
  return (
    <div
      class={`grid ${className}`}
      role={role}
      aria-label={label}
      aria-multiselectable={first === undefined || rowOf(first, 0).selected === undefined ? undefined : true}
      aria-rowcount={count + 1}
      aria-activedescendant={isRendered ? `${id}-${active}` : undefined}
      tabIndex={0}
      ref={scroller}
    >
      <div class="grid-head" role="row" aria-rowindex={1}>
        {columns.map(({ name, title, class: of }) => (
          <span key={name} role="columnheader" class={of} title={title}>
            {name === '' ? <span class="hidden-title">{title}</span> : name}
          </span>
        ))}
      </div>
      <div class="grid-body" role="presentation" style={{ height: `${count * height}px` }}>
        {sight.indexes.map((index) => {
          const row = rows[index] as Row;
          const { key, class: kind, level, expanded, selected } = rowOf(row, index);
          return (
            <div
              key={key}
              id={`${id}-${index}`}
              role="row"
              class={`grid-row ${kind ?? ''} ${index === active ? 'active' : ''} ${selected === true ? 'picked' : ''}`}
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
              {cells(row)}
            </div>
          );
        })}
      </div>
      {footer === undefined ? null : (
        <div role="row">
          <div class="grid-foot" role="gridcell">
            {footer}
          </div>
        </div>
      )}
    </div>
  );
}

interface CloseProps {
  readonly label?: string;
  readonly onClose: () => void;
}

/** Closes what belongs to a list. The list gets the focus, which the button would take along. */
export function CloseButton({ label = 'Close', onClose }: CloseProps): JSX.Element {
  const close = (): void => {
    document.querySelector<HTMLElement>('.grid')?.focus();
    onClose();
  };
  return <Button kind="quiet" icon="close" label={label} onClick={close} />;
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
