/** The columns and attributes of a span. Each value can be copied, filtered by, and excluded. */
import type { JSX } from 'preact';
import type { SpanDetail } from '../../../api/shapes/spans.ts';
import { exactText } from '../../../../../pdata/exact-json.ts';
import { Button, CopyButton } from '../../parts/basics.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { partOf } from '../../parts/messages.tsx';
import { open, pageHref } from '../../state/location.ts';
import { opposite, termOf } from '../../text/filter-text.ts';
import { dateTime, msOf } from '../../text/time.ts';
import { visible } from '../../text/visible.ts';

/** Columns that the filter knows, by their name in it. */
const FIELDS: Readonly<Record<string, string>> = {
  service_name: 'service',
  name: 'name',
  kind: 'kind',
  status: 'status',
  category: 'category',
  operation: 'operation',
  provider: 'provider',
  request_model: 'model',
  response_model: 'model',
  tool_name: 'tool',
  agent_name: 'agent',
  conversation_id: 'conversation',
  user_id: 'user',
  dialect: 'dialect',
  scope_name: 'scope',
  error_type: 'error',
  environment: 'env',
};
const ELSEWHERE = [
  'content',
  'attributes',
  'long_attributes',
  'resource',
  'events',
  'links',
  'status_message',
  'project',
];

export function AttributesTab({ detail }: { detail: SpanDetail }): JSX.Element {
  const columns = Object.entries(detail).filter(([name, value]) => value !== null && !ELSEWHERE.includes(name));
  return (
    <>
      <Values
        title="Span"
        entries={columns.map(([name, value]) => [name, shown(name, value)] as const)}
        prefix={null}
      />
      <Values title="Attributes" entries={Object.entries(detail.attributes ?? {})} prefix="attr." />
      {Object.entries(detail.long_attributes ?? {}).map(([name, value]) => (
        <details key={name}>
          <summary>
            {visible(name)} <span class="muted">{partOf(value)}</span>
          </summary>
          <pre class="code">{value.text}</pre>
        </details>
      ))}
      <Values title="Resource" entries={Object.entries(detail.resource ?? {})} prefix="resource." />
    </>
  );
}

function shown(name: string, value: unknown): unknown {
  if (name.endsWith('_unix_nano') && typeof value === 'string') return `${dateTime(msOf(value))} (${value})`;
  return value;
}

interface ValuesProps {
  readonly title: string;
  readonly entries: readonly (readonly [string, unknown])[];
  /** Null: columns. */
  readonly prefix: string | null;
}

function Values({ title, entries, prefix }: ValuesProps): JSX.Element | null {
  if (entries.length === 0) return null;
  return (
    <section class="section">
      <h3>{title}</h3>
      <table class="values">
        <tbody>
          {entries.map(([name, value]) => (
            <ValueRow
              key={name}
              name={name}
              value={value}
              field={prefix === null ? FIELDS[name] : `${prefix}${name}`}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ValueRow({ name, value, field }: { name: string; value: unknown; field: string | undefined }): JSX.Element {
  const text = typeof value === 'string' ? value : exactText(value);
  const isPlain = typeof value !== 'object' || value === null;
  const canFilter = field !== undefined && isPlain && text.length < 500 && /^[^\s":]+$/u.test(field);
  const filter = (term: string): void => open(pageHref('traces', null, { q: term }));
  return (
    <tr>
      <th scope="row">{visible(name)}</th>
      <td>{isPlain ? <span class="value-text">{text}</span> : <JsonTree value={value} open={false} />}</td>
      <td class="row-actions">
        <CopyButton text={text} label={`Copy ${visible(name).slice(0, 60)}`} />
        {canFilter ? (
          <>
            <Button
              kind="quiet"
              icon="filter"
              label={`Traces with this ${visible(name).slice(0, 60)}`}
              onClick={() => filter(termOf(field, text))}
            />
            <Button
              kind="quiet"
              icon="exclude"
              label={`Traces without this ${visible(name).slice(0, 60)}`}
              onClick={() => filter(opposite(termOf(field, text)))}
            />
          </>
        ) : null}
      </td>
    </tr>
  );
}
