/** The filter. Enter applies it; the address holds it. Typing completes the names of fields. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../data/api.ts';
import { parameter, place, setQuery } from '../state/location.ts';
import { Button } from './basics.tsx';

/** The refusal of the filter by the list of the page. */
export const filterError = signal<ApiError | null>(null);

const FIELDS = [
  'model:',
  'error',
  'error:',
  'cost:>',
  'duration:>',
  'user:',
  'service:',
  'name:',
  'category:',
  'tool:',
  'agent:',
  'conversation:',
  'provider:',
  'status:',
  'tokens:>',
  'ttft:>',
  'latency:>',
  'attr.',
  'resource.',
  'trace.cost:>',
  'trace.duration:>',
  'trace.tokens:>',
  'trace.spans:>',
  'trace.errors:>',
  'trace:',
  'span:',
  'env:',
  'unpriced',
];
const MOST = 8;

export function FilterBox(): JSX.Element {
  const applied = parameter('q') ?? '';
  const [text, setText] = useState(applied);
  const [focused, setFocused] = useState(false);
  const [at, setAt] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  useEffect(() => setText(applied), [place.value]);
  const apply = (): void => setQuery({ q: text.trim() });
  const word = /\S*$/u.exec(text)?.[0] ?? '';
  const bare = word.replace(/^-/u, '');
  const found =
    focused && bare !== '' ? FIELDS.filter((each) => each.startsWith(bare) && each !== bare).slice(0, MOST) : [];
  const complete = (field: string): void => {
    setText(text.slice(0, text.length - bare.length) + field);
    setAt(-1);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const chosen = found[at];
    if (event.key === 'Escape') input.current?.blur();
    else if (event.key === 'Enter' && chosen === undefined) apply();
    else if ((event.key === 'Enter' || event.key === 'Tab') && chosen !== undefined) complete(chosen);
    else if (event.key === 'ArrowDown' && found.length > 0) setAt((at + 1) % found.length);
    else if (event.key === 'ArrowUp' && found.length > 0) setAt(((at + found.length) % (found.length + 1)) - 1);
    else return;
    event.preventDefault();
  };
  const error = filterError.value;
  return (
    <search class="filter">
      <input
        ref={input}
        data-search
        type="text"
        role="combobox"
        aria-label="Filter"
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-activedescendant={at < 0 ? undefined : `${list}-${at}`}
        aria-invalid={error !== null}
        placeholder="model:gpt-5* cost:>0.05 error"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(-1);
        }}
        onKeyDown={onKeyDown}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      />
      {text === '' ? (
        <kbd>/</kbd>
      ) : (
        <Button kind="quiet" icon="close" label="Clear the filter" onClick={() => setQuery({ q: null })} />
      )}
      <div role="listbox" id={list} class="completions" aria-label="Fields" hidden={found.length === 0}>
        {found.map((field, index) => (
          <div
            role="option"
            id={`${list}-${index}`}
            key={field}
            aria-selected={index === at}
            onPointerDown={(event) => {
              event.preventDefault();
              complete(field);
            }}
          >
            {field}
          </div>
        ))}
      </div>
      {error === null ? null : <FilterProblem error={error} text={applied} />}
    </search>
  );
}

function FilterProblem({ error, text }: { error: ApiError; text: string }): JSX.Element {
  const { at, hint } = error;
  return (
    <div class="filter-problem" role="alert">
      {at === null ? null : (
        <pre aria-hidden="true">
          {text}
          {'\n'}
          {' '.repeat(Math.min(at, text.length))}^
        </pre>
      )}
      {error.message}
      {hint === null ? null : (
        <>
          {' '}
          (<em>{hint}</em>)
        </>
      )}
    </div>
  );
}
