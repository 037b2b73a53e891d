/** The list of keys, and the switch that disables them. */
import type { JSX } from 'preact';
import { shortcuts } from '../state/settings.ts';
import { Dialog } from './dialog.tsx';

const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Everywhere',
    [
      ['?', 'this help'],
      ['/', 'filter, or find in a trace or conversation'],
      ['g t · g c · g u · g l', 'traces, conversations, usage, logs'],
      ['g m · g p · g s', 'metrics, project, status'],
      ['Ctrl K', 'palette: pages, projects, a trace id'],
      ['t', 'range of time'],
      ['z', 'time zone'],
      ['l', 'live'],
      ['y Y', 'copy the link, with the range as it is now'],
      ['Esc', 'close'],
    ],
  ],
  [
    'Lists',
    [
      ['j k, ↓ ↑', 'down, up'],
      ['PgUp PgDn Home End', 'by pages'],
      ['Enter · o', 'open · in a new tab'],
      ['x', 'pick: compare two, export, delete'],
      ['f', 'facets'],
    ],
  ],
  [
    'Trace',
    [
      ['↓ ↑', 'down, up'],
      ['→ ←', 'unfold or first child · fold or parent'],
      ['*', 'unfold all below'],
      ['[ ]', 'fold, unfold one level'],
      ['e E', 'next, previous error'],
      ['m M', 'next, previous model call'],
      ['n N', 'next, previous match, also in a conversation'],
      ['c', 'critical path'],
      ['+ − 0', 'zoom'],
      ['w', 'fold long waits'],
      ['1 2 3 4', 'timeline, messages, table, JSON'],
      ['r', 'Markdown or text'],
      ['J K', 'next, previous trace of the list'],
      ['Space', 'panel'],
    ],
  ],
];

const FILTERS: readonly (readonly [string, string])[] = [
  ['model:gpt-5*', 'a model, by its beginning'],
  ['cost:>0.05  duration:>2s', 'dearer, longer'],
  ['error  error:timeout', 'failed; with this text'],
  ['-service:worker', 'not this service'],
  ['user:u-17  conversation:c-1', 'of a user, of a conversation'],
  ['attr.http.route:/chat', 'any attribute'],
  ['"timed out"', 'this text anywhere'],
];

export function HelpDialog({ onClose }: { onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keys and filters" onClose={onClose}>
      <div class="help">
        {KEYS.map(([title, keys]) => (
          <Table key={title} title={title} rows={keys} />
        ))}
        <Table title="Filter" rows={FILTERS} />
      </div>
      <p>
        <label>
          <input
            type="checkbox"
            checked={shortcuts.value === 'on'}
            onChange={(event) => (shortcuts.value = event.currentTarget.checked ? 'on' : 'off')}
          />{' '}
          Keys without a modifier are on
        </label>
      </p>
    </Dialog>
  );
}

function Table({ title, rows }: { title: string; rows: readonly (readonly [string, string])[] }): JSX.Element {
  return (
    <table>
      <caption>{title}</caption>
      <tbody>
        {rows.map(([key, what]) => (
          <tr key={key}>
            <th scope="row">
              <kbd>{key}</kbd>
            </th>
            <td>{what}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
