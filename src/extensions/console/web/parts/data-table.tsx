/** A table that scrolls sideways where it is too wide. */
import type { ComponentChildren, JSX } from 'preact';

interface DataTableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** The first column of numbers; all behind it are numbers too. */
  readonly numbersFrom?: number;
  readonly children: ComponentChildren;
}

export function DataTable({ label, columns, numbersFrom = columns.length, children }: DataTableProps): JSX.Element {
  return (
    <div class="scroll-x" role="region" aria-label={label} tabIndex={0}>
      <table class="data-table">
        <thead>
          <tr>
            {columns.map((name, at) => (
              <th key={at} scope="col" class={at >= numbersFrom ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
