/** The environment of the lists: all, or one. */
import type { EnvironmentShape } from '../../api/shapes/management.ts';
import type { JSX } from 'preact';
import { projectPath } from '../data/api.ts';
import { useAnswer } from '../data/resource.ts';
import { parameter, route, setQuery } from '../state/location.ts';
import { visible } from '../text/visible.ts';
import { Menu } from './dialog.tsx';

export function EnvironmentMenu(): JSX.Element {
  const env = parameter('env');
  return (
    <Menu label="Environment" text={env === null ? 'all environments' : visible(env)} class="environments">
      {(close) => (
        <Environments
          choose={(name) => {
            close();
            setQuery({ env: name });
          }}
        />
      )}
    </Menu>
  );
}

function Environments({ choose }: { choose: (name: string | null) => void }): JSX.Element {
  const { project } = route.value;
  const known = useAnswer<{ items: readonly EnvironmentShape[] }>(
    project === null ? null : projectPath(project, 'environments'),
  );
  const current = parameter('env');
  const names = new Set(known.data?.items.map(({ environment }) => environment));
  if (current !== null) names.add(current);
  return (
    <>
      <button type="button" aria-current={current === null ? 'true' : undefined} onClick={() => choose(null)}>
        all environments
      </button>
      {[...names].sort().map((name) => (
        <button
          type="button"
          key={name}
          aria-current={current === name ? 'true' : undefined}
          onClick={() => choose(name)}
        >
          {visible(name)}
        </button>
      ))}
    </>
  );
}
