/** Read tokens for scripts and agents: they read one project and never change anything. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NewTokenShape, TokenShape } from '../../../api/shapes/management.ts';
import { projectPath, send } from '../../data/api.ts';
import { useChanges } from '../../data/change.ts';
import { useAnswer } from '../../data/resource.ts';
import { Button, Lines, Name, Part } from '../../parts/basics.tsx';
import { Options } from '../../parts/choice.tsx';
import { DAY_MS } from '../../../../../pdata/time-units.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded, Problem } from '../../parts/states.tsx';
import { seesContent } from '../../state/session.ts';
import { dateTime } from '../../text/time.ts';

const LIFETIMES: readonly (readonly [string, string])[] = [
  ['', 'without an end'],
  ['30', '30 days'],
  ['365', '1 year'],
];

export function Tokens({ project }: { project: string }): JSX.Element {
  const path = projectPath(project, 'tokens');
  const tokens = useAnswer<{ items: readonly TokenShape[] }>(path);
  const [made, setMade] = useState<NewTokenShape | null>(null);
  const { problem, change } = useChanges(tokens.reload);
  return (
    <Part title="Read tokens">
      <p class="muted">
        For scripts, agents and Grafana: <code>Authorization: Bearer</code> with the token, at{' '}
        <code>{location.origin}/api/v1</code>.
      </p>
      <NewToken
        create={(draft) =>
          void change(async () => {
            setMade(await send<NewTokenShape>('POST', path, draft));
          })
        }
      />
      <Problem text={problem} />
      {made === null ? null : (
        <div class="made" role="status">
          <p>
            <strong>The new token is shown only now.</strong>
          </p>
          <Lines text={made.token} label="token" />
          <p>Grafana shows the traces with this data source for provisioning:</p>
          <Lines text={grafanaSource(project, made.token)} label="data source" />
        </div>
      )}
      <Loaded of={tokens}>
        {({ items }) => (
          <TokenTable
            items={items}
            revoke={(id) =>
              void change(async () => {
                await send('DELETE', projectPath(project, 'tokens', id));
              })
            }
          />
        )}
      </Loaded>
    </Part>
  );
}

/** Basic authentication: the user is any word. Streaming needs gRPC. */
const grafanaSource = (project: string, token: string): string => `apiVersion: 1
datasources:
  - name: Sluice ${project}
    type: tempo
    url: ${location.origin}/tempo
    basicAuth: true
    basicAuthUser: ${JSON.stringify(project)}
    secureJsonData:
      basicAuthPassword: ${token}
    jsonData: { streamingEnabled: { search: false, metrics: false } }`;

interface Draft {
  readonly label: string | null;
  readonly sees_content: boolean;
  readonly expires_at: string | null;
}

function NewToken({ create }: { create: (draft: Draft) => void }): JSX.Element {
  const [label, setLabel] = useState('');
  const [content, setContent] = useState(false);
  const [days, setDays] = useState('');
  const submit = (event: Event): void => {
    event.preventDefault();
    create({
      label: label.trim() === '' ? null : label.trim(),
      sees_content: content,
      expires_at: days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
    });
    setLabel('');
  };
  return (
    <form class="inline" onSubmit={submit}>
      <label>
        Label
        <input type="text" value={label} maxLength={100} onInput={(event) => setLabel(event.currentTarget.value)} />
      </label>
      <label>
        Lifetime
        <select value={days} onChange={(event) => setDays(event.currentTarget.value)}>
          <Options of={LIFETIMES} />
        </select>
      </label>
      {seesContent.value ? (
        <label class="check">
          <input type="checkbox" checked={content} onChange={(event) => setContent(event.currentTarget.checked)} /> sees
          content
        </label>
      ) : null}
      <Button kind="main" onClick={submit}>
        Create a read token
      </Button>
    </form>
  );
}

function TokenTable({
  items,
  revoke,
}: {
  items: readonly TokenShape[];
  revoke: (id: string) => void;
}): JSX.Element | null {
  if (items.length === 0) return null;
  return (
    <DataTable label="Read tokens" columns={['Token', 'Label', 'By', 'Content', 'Last used', 'State']}>
      {items.map((token) => (
        <tr key={token.public_id}>
          <th scope="row">
            <code>…{token.public_id.slice(-4)}</code>
          </th>
          <td>{token.label === null ? '–' : <Name text={token.label} />}</td>
          <td>
            <Name text={token.creator} />
          </td>
          <td>{token.sees_content ? 'yes' : 'no'}</td>
          <td class="moment">{token.used_at === null ? 'never' : dateTime(Date.parse(token.used_at), false)}</td>
          <td>
            {token.revoked_at !== null ? (
              <span class="muted moment">revoked {dateTime(Date.parse(token.revoked_at), false)}</span>
            ) : (
              <>
                {token.expires_at === null ? '' : `until ${dateTime(Date.parse(token.expires_at), false)} `}
                {token.revocable ? (
                  <Button
                    kind="quiet"
                    label={`Revoke the token …${token.public_id.slice(-4)}`}
                    onClick={() => revoke(token.public_id)}
                  >
                    Revoke
                  </Button>
                ) : null}
              </>
            )}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
