/** Whether content is captured, by environment. */
import type { JSX } from 'preact';
import type { EnvironmentShape } from '../../../api/shapes/management.ts';
import { projectPath, send } from '../../data/api.ts';
import { useChanges } from '../../data/change.ts';
import { useAnswer } from '../../data/resource.ts';
import { Name, Part } from '../../parts/basics.tsx';
import { Options } from '../../parts/choice.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded, Problem } from '../../parts/states.tsx';
import { may } from '../../state/session.ts';

/** The words are those of JSON. */
const CHOICES = [
  ['null', 'as configured'],
  ['true', 'captured'],
  ['false', 'not captured'],
] as const;

export function Environments({ project }: { project: string }): JSX.Element {
  const path = projectPath(project, 'environments');
  const environments = useAnswer<{ items: readonly EnvironmentShape[] }>(path);
  const { problem, change } = useChanges(environments.reload);
  const set = (environment: string, capture: boolean | null): Promise<void> =>
    change(() => send('PUT', projectPath(project, 'environments', environment), { capture_content: capture }));
  return (
    <Part title="Environments">
      <p class="muted">
        Prompts, answers and tool payloads are stored or left out by environment. A change holds from now on, not for
        what is stored already.
      </p>
      <Problem text={problem} />
      <Loaded of={environments}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="muted">No environment has sent yet.</p>
          ) : (
            <DataTable label="Environments" columns={['Environment', 'Content']}>
              {items.map(({ environment, capture_content: capture }) => (
                <tr key={environment}>
                  <th scope="row">
                    <Name text={environment} />
                  </th>
                  <td>
                    <select
                      aria-label={`Content of ${environment}`}
                      disabled={!may('editor')}
                      value={String(capture)}
                      onChange={(event) => void set(environment, JSON.parse(event.currentTarget.value))}
                    >
                      <Options of={CHOICES} />
                    </select>
                  </td>
                </tr>
              ))}
            </DataTable>
          )
        }
      </Loaded>
    </Part>
  );
}
