/** Keeps an error in one part of the page from leaving an empty page. */
import { Component, type ComponentChildren } from 'preact';
import { projectPath, urlOf } from '../data/api.ts';
import { asApiError } from '../data/resource.ts';
import { type Place, place, route } from '../state/location.ts';
import { Button, Link } from './basics.tsx';

interface GuardProps {
  readonly children: ComponentChildren;
}

interface GuardState {
  readonly failed?: { readonly message: string; readonly at: Place };
}

/** Shows its content, or why that failed until the reader opens another address. */
export class Guard extends Component<GuardProps, GuardState> {
  override componentDidCatch(failure: unknown): void {
    reportError(failure);
    this.setState({ failed: { message: asApiError(failure).message, at: place.value } });
  }

  override render({ children }: GuardProps, { failed }: GuardState): ComponentChildren {
    if (failed?.at !== place.value) return children;
    const { page, project, id } = route.value;
    return (
      <div class="failure" role="alert">
        <p>
          <strong>This cannot be shown.</strong> {failed.message}
        </p>
        <p class="actions">
          <Button onClick={() => location.reload()}>Load the page again</Button>
          {page === 'traces' && project !== null && id !== null ? (
            <a href={urlOf(projectPath(project, 'traces', id, 'otlp'), { as: 'json' })}>The trace as OTLP JSON</a>
          ) : null}
          <Link href="/">Traces</Link>
        </p>
      </div>
    );
  }
}
