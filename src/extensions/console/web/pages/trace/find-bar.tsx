/** Finding inside a trace, and the jumps to errors. */
import type { JSX } from 'preact';
import { Button } from '../../parts/basics.tsx';
import { FindInput } from '../../parts/find-input.tsx';
import { exactly, plural } from '../../text/figures.ts';

interface FindBarProps {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly count: number;
  /** Not all spans are loaded. */
  readonly isPart: boolean;
  /** The number of the selected match, from 1; 0: none. */
  readonly position: number;
  readonly onlyFound: boolean;
  readonly setOnlyFound: (only: boolean) => void;
  readonly errors: number;
  readonly showsPath: boolean;
  readonly setShowsPath: (shows: boolean) => void;
}

export function FindBar(props: FindBarProps): JSX.Element {
  const { text, setText, count, position } = props;
  const soFar = props.isPart ? ' so far' : '';
  return (
    <search class="find-bar">
      <FindInput
        label="Find in this trace"
        placeholder="find: name, model, tool, id"
        text={text}
        setText={setText}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== 'Escape') return;
          event.preventDefault();
          if (event.key === 'Escape') setText('');
          event.currentTarget.blur();
        }}
      />
      <span role="status">
        {text === '' ? '' : (position > 0 ? `${position} of ${exactly(count)}` : plural(count, 'match')) + soFar}
      </span>
      {text === '' ? null : (
        <Button
          kind="quiet"
          pressed={props.onlyFound}
          title="Hide the rest (f)"
          onClick={() => props.setOnlyFound(!props.onlyFound)}
        >
          only these
        </Button>
      )}
      <Button
        kind="quiet"
        pressed={props.showsPath}
        title="Critical path (c)"
        onClick={() => props.setShowsPath(!props.showsPath)}
      >
        critical path
      </Button>
      {props.errors > 0 ? (
        <span class="muted hint">
          <kbd>e</kbd> next error
        </span>
      ) : null}
    </search>
  );
}
