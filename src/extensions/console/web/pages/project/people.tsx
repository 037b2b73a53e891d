/** People, for admins: what they may see, links to log in, and new projects. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { LinkShape, PersonShape, RoleShape } from '../../../api/shapes/management.ts';
import { send } from '../../data/api.ts';
import { useChanges } from '../../data/change.ts';
import { useAnswer } from '../../data/resource.ts';
import { Button, Lines, Name, Part } from '../../parts/basics.tsx';
import { Options } from '../../parts/choice.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded, Problem } from '../../parts/states.tsx';
import { loadMe, me } from '../../state/session.ts';
import { dateTime } from '../../text/time.ts';

const ROLES: readonly RoleShape[] = ['viewer', 'editor', 'admin'];

export function People({ project }: { project: string }): JSX.Element {
  const people = useAnswer<{ items: readonly PersonShape[] }>('/people');
  const [link, setLink] = useState<{ name: string; link: string } | null>(null);
  const { problem, change } = useChanges(people.reload);
  const path = (person: PersonShape): string => `/people/${encodeURIComponent(person.id)}`;
  const invite = async (person: PersonShape): Promise<void> => {
    const made = await send<LinkShape>('POST', `${path(person)}/link`, {});
    setLink({ name: person.name, link: made.link });
  };
  return (
    <Part title="People">
      <p class="muted">A person logs in with a link that works once. An admin sees all projects.</p>
      <NewPerson
        project={project}
        create={(draft) => void change(async () => invite(await send<PersonShape>('POST', '/people', draft)))}
      />
      <Problem text={problem} />
      {link === null ? null : (
        <div class="made" role="status">
          <p>
            The link for <Name text={link.name} /> works once, for 15 minutes:
          </p>
          <Lines text={link.link} label="link" />
        </div>
      )}
      <Loaded of={people}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="muted">There is no person yet.</p>
          ) : (
            <PeopleTable
              items={items}
              invite={(person) => void change(() => invite(person))}
              remove={(person) => void change(() => send('DELETE', path(person)))}
            />
          )
        }
      </Loaded>
    </Part>
  );
}

interface Draft {
  readonly name: string;
  readonly role: RoleShape;
  readonly projects: readonly string[] | null;
  readonly sees_content: boolean;
}

function NewPerson({ project, create }: { project: string; create: (draft: Draft) => void }): JSX.Element {
  const [name, setName] = useState('');
  const [role, setRole] = useState<RoleShape>('viewer');
  const [content, setContent] = useState(true);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    create({ name: name.trim(), role, projects: role === 'admin' ? null : [project], sees_content: content });
    setName('');
  };
  return (
    <form class="inline" onSubmit={submit}>
      <label>
        Name
        <input type="text" value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label>
        Role
        <select value={role} onChange={(event) => setRole(event.currentTarget.value as RoleShape)}>
          <Options of={ROLES.map((each) => [each, each])} />
        </select>
      </label>
      <label class="check">
        <input type="checkbox" checked={content} onChange={(event) => setContent(event.currentTarget.checked)} /> sees
        content
      </label>
      <Button kind="main" onClick={submit}>
        Add a person
      </Button>
    </form>
  );
}

interface PeopleTableProps {
  readonly items: readonly PersonShape[];
  readonly invite: (person: PersonShape) => void;
  readonly remove: (person: PersonShape) => void;
}

function PeopleTable({ items, invite, remove }: PeopleTableProps): JSX.Element {
  const [asked, setAsked] = useState<string | null>(null);
  return (
    <DataTable label="People" columns={['Name', 'Role', 'Projects', 'Content', 'Last seen', 'Actions']}>
      {items.map((person) => (
        <tr key={person.id}>
          <th scope="row">
            <Name text={person.name} />
          </th>
          <td>{person.role}</td>
          <td>{person.projects === null ? 'all' : <Name text={person.projects.join(', ')} />}</td>
          <td>{person.sees_content ? 'yes' : 'no'}</td>
          <td class="moment">{person.seen_at === null ? 'never' : dateTime(Date.parse(person.seen_at), false)}</td>
          <td>
            <Button kind="quiet" onClick={() => invite(person)}>
              New link
            </Button>
            {person.id === me.value?.id ? null : asked === person.id ? (
              <Button kind="danger" onClick={() => remove(person)}>
                Remove now
              </Button>
            ) : (
              <Button kind="quiet" onClick={() => setAsked(person.id)}>
                Remove
              </Button>
            )}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

export function NewProject(): JSX.Element {
  const [name, setName] = useState('');
  const { problem, change } = useChanges();
  const submit = (event: Event): Promise<void> => {
    event.preventDefault();
    return change(async () => {
      await send('POST', '/projects', { name: name.trim() });
      await loadMe();
      setName('');
    });
  };
  return (
    <Part title="New project">
      <form class="inline" onSubmit={(event) => void submit(event)}>
        <label>
          Name
          <input type="text" value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <Button onClick={(event) => void submit(event)}>Create the project</Button>
      </form>
      <Problem text={problem} />
    </Part>
  );
}
