/** API keys: created, shown once, revoked. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { KeyShape, NewKeyShape } from '../../../api/shapes/management.ts';
import { projectPath, send } from '../../data/api.ts';
import { useChanges } from '../../data/change.ts';
import { useAnswer } from '../../data/resource.ts';
import { Button, Lines, Name, Part } from '../../parts/basics.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded, Problem } from '../../parts/states.tsx';
import { dateTime } from '../../text/time.ts';
import { visible } from '../../text/visible.ts';
import { sdkLines } from '../../text/sdk-lines.ts';

const LOCAL = 'http://127.0.0.1:4318';

export function Keys({ project }: { project: string }): JSX.Element {
  const path = projectPath(project, 'keys');
  const keys = useAnswer<{ items: readonly KeyShape[] }>(path);
  const [made, setMade] = useState<NewKeyShape | null>(null);
  const { problem, change } = useChanges(keys.reload);
  const create = (label: string, environment: string): Promise<void> =>
    change(async () => {
      const draft = { label: label === '' ? null : label, environment: environment === '' ? null : environment };
      setMade(await send<NewKeyShape>('POST', path, draft));
    });
  const revoke = (id: string): Promise<void> =>
    change(async () => {
      await send('DELETE', projectPath(project, 'keys', id));
    });
  return (
    <Part title="API keys">
      <p class="muted">Applications send with a key. A key works within seconds, and so does its revocation.</p>
      <NewKey create={create} />
      <Problem text={problem} />
      {made === null ? null : (
        <div class="made" role="status">
          <p>
            <strong>The new key is shown only now.</strong> Set these lines in the environment of the application:
          </p>
          <Lines text={sdkLines(made.endpoint ?? LOCAL, made.key)} label="environment" />
        </div>
      )}
      <Loaded of={keys}>{({ items }) => <KeyTable items={items} revoke={(id) => void revoke(id)} />}</Loaded>
    </Part>
  );
}

function NewKey({ create }: { create: (label: string, environment: string) => Promise<void> }): JSX.Element {
  const [label, setLabel] = useState('');
  const [environment, setEnvironment] = useState('');
  const submit = (event: Event): void => {
    event.preventDefault();
    void create(label.trim(), environment.trim()).then(() => setLabel(''));
  };
  return (
    <form class="inline" onSubmit={submit}>
      <label>
        Label
        <input type="text" value={label} maxLength={100} onInput={(event) => setLabel(event.currentTarget.value)} />
      </label>
      <label>
        Environment
        <input
          type="text"
          placeholder="all"
          value={environment}
          maxLength={100}
          onInput={(event) => setEnvironment(event.currentTarget.value)}
        />
      </label>
      <Button kind="main" onClick={submit}>
        Create a key
      </Button>
    </form>
  );
}

function KeyTable({ items, revoke }: { items: readonly KeyShape[]; revoke: (id: string) => void }): JSX.Element {
  const [asked, setAsked] = useState<string | null>(null);
  if (items.length === 0) return <p class="muted">There is no key yet.</p>;
  return (
    <DataTable label="API keys" columns={['Key', 'Label', 'Environment', 'Created', 'State']}>
      {items.map((key) => (
        <tr key={key.public_id}>
          <th scope="row">
            <code>…{visible(key.public_id.slice(-4))}</code>
          </th>
          <td>{key.label === null ? '–' : <Name text={key.label} />}</td>
          <td>{key.environment === null ? 'all' : <Name text={key.environment} />}</td>
          <td class="moment">{dateTime(Date.parse(key.created_at), false)}</td>
          <td>
            {key.revoked_at !== null ? (
              <span class="muted moment">revoked {dateTime(Date.parse(key.revoked_at), false)}</span>
            ) : asked === key.public_id ? (
              <Button kind="danger" onClick={() => revoke(key.public_id)}>
                Revoke now
              </Button>
            ) : (
              <Button
                kind="quiet"
                label={`Revoke the key …${key.public_id.slice(-4)}`}
                onClick={() => setAsked(key.public_id)}
              >
                Revoke
              </Button>
            )}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
