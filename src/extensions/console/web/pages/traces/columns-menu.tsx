/** The choice of the columns of the list, kept in the browser. */
import type { JSX } from 'preact';
import { Button } from '../../parts/basics.tsx';
import { Menu } from '../../parts/dialog.tsx';
import { CHOICES, chosenColumns, hasDefaultColumns, resetColumns, toggleColumn } from './columns.tsx';

export function ColumnsMenu(): JSX.Element {
  const chosen = chosenColumns();
  return (
    <Menu label="Columns" text="" icon="columns" class="columns">
      {() => (
        <fieldset>
          <legend>Columns</legend>
          {CHOICES.map(({ id, name }) => (
            <label key={id}>
              <input type="checkbox" checked={chosen.has(id)} onChange={() => toggleColumn(id)} />
              {name}
            </label>
          ))}
          <Button kind="quiet" disabled={hasDefaultColumns()} onClick={resetColumns}>
            Reset
          </Button>
        </fieldset>
      )}
    </Menu>
  );
}
