/** The filter. Enter applies it; the URL holds it. Typing completes names of fields and values of the newest spans. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Facets } from '../../api/shapes/traces.ts';
import { type ApiError, projectPath } from '../data/api.ts';
import { useAnswer } from '../data/resource.ts';
import { useAsked } from '../state/asked.ts';
import { parameter, place, route, setQuery } from '../state/location.ts';
import { exactly } from '../text/figures.ts';
import { termOf, termsOf } from '../text/filter-text.ts';
import { visible } from '../text/visible.ts';
import { Button } from './basics.tsx';

/** The refusal of the filter by the list of the page. */
export const filterError = signal<ApiError | null>(null);

const FIELDS = (
  'model: error error: cost:> duration:> user: service: name: category: tool: agent: conversation: ' +
  'provider: status: tokens:> ttft:> latency:> attr. resource. trace.cost:> trace.duration:> ' +
  'trace.tokens:> trace.spans:> trace.errors:> root trace: span: env: unpriced'
).split(' ');
/** Fields whose values the facets know. */
const COUNTED = new Set(
  'service model provider tool agent user conversation category operation error env name kind status dialect'.split(
    ' ',
  ),
);
const MOST = 8;

interface Completion {
  /** The term as it will be. */
  readonly term: string;
  readonly shown: string;
  /** How many of the newest spans have the value. */
  readonly count: number | null;
}

/** What a term can become: a field while its name is typed, then a value of the newest spans. */
function useCompletions(term: string, active: boolean): readonly Completion[] {
  const { project } = route.value;
  const [, sign = '', field = '', before = '', typed = ''] =
    /^(-?)([a-z]+):((?:[^",]*,)*)"?([^",]*)$/u.exec(term) ?? [];
  const { range } = useAsked(project ?? '');
  const asks = active && project !== null && COUNTED.has(field);
  const facets = useAnswer<Facets>(asks ? projectPath(project, 'facets') : null, { ...range, fields: field });
  if (!active || term === '' || term === '-') return [];
  if (!asks) {
    const name = term.replace(/^-/u, '');
    return FIELDS.filter((each) => each.startsWith(name) && each !== name)
      .slice(0, MOST)
      .map((each) => ({ term: term.slice(0, term.length - name.length) + each, shown: each, count: null }));
  }
  const wanted = typed.toLowerCase();
  return (facets.data?.fields[field] ?? [])
    .filter(({ value }) => value !== typed && value.toLowerCase().includes(wanted))
    .slice(0, MOST)
    .map(({ value, count }) => ({
      term: `${sign}${field}:${before}${termOf(field, value).slice(field.length + 1)} `,
      shown: visible(value),
      count,
    }));
}

export function FilterBox(): JSX.Element {
  const applied = parameter('q') ?? '';
  const [text, setText] = useState(applied);
  const [focused, setFocused] = useState(false);
  const [at, setAt] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  // A layout effect: what is typed after Enter stays.
  useLayoutEffect(() => setText(applied), [String(place.value.query)]);
  // What was not applied is not in the address.
  const clear = (): void => {
    setText('');
    setQuery({ q: null });
  };
  const last = termsOf(text).at(-1) ?? '';
  const term = text.endsWith(last) ? last : '';
  const found = useCompletions(term, focused);
  const complete = (completion: Completion): void => {
    setText(text.slice(0, text.length - term.length) + completion.term);
    setAt(-1);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const chosen = found[at];
    if (event.isComposing) return;
    if (event.key === 'Escape') input.current?.blur();
    else if (event.key === 'Enter' && chosen === undefined) setQuery({ q: text.trim() });
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
      {text === '' ? <kbd>/</kbd> : <Button kind="quiet" icon="close" label="Clear the filter" onClick={clear} />}
      <div role="listbox" id={list} class="completions" aria-label="Completions" hidden={found.length === 0}>
        {found.map((each, index) => (
          <div
            role="option"
            id={`${list}-${index}`}
            key={each.term}
            aria-selected={index === at}
            onPointerDown={(event) => {
              event.preventDefault();
              complete(each);
            }}
          >
            {each.shown}
            {each.count === null ? null : <span class="count"> {exactly(each.count)}</span>}
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
          {text.slice(0, at)}
          <mark>{text.slice(at)}</mark>
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
