/** The facets: values of the newest spans with their counts. A click adds a term to the filter. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Facets as FacetsAnswer } from '../../../api/shapes/traces.ts';
import { projectPath } from '../../data/api.ts';
import { useAnswer } from '../../data/resource.ts';
import { Button, Name } from '../../parts/basics.tsx';
import { missingText } from '../../parts/search.tsx';
import { parameter, setQuery } from '../../state/location.ts';
import { exactly } from '../../text/figures.ts';
import { hasTerm, opposite, termOf, withTerm, withoutTerm } from '../../text/filter-text.ts';
import type { Asked } from '../../state/asked.ts';

const FIELDS = [
  ['service', 'Service'],
  ['model', 'Model'],
  ['provider', 'Provider'],
  ['category', 'Category'],
  ['tool', 'Tool'],
  ['agent', 'Agent'],
  ['error', 'Error type'],
  ['user', 'User'],
  ['env', 'Environment'],
] as const;
const SHOWN = 6;
/** The most values that the API counts. */
const COUNTED = 50;

/** `mayAsk`: false while the list is waited for. */
export function Facets({ asked, mayAsk }: { asked: Asked; mayAsk: boolean }): JSX.Element {
  const { project, query } = asked;
  const fields = FIELDS.map(([field]) => field).join(',');
  const facets = useAnswer<FacetsAnswer>(mayAsk ? projectPath(project, 'facets') : null, { ...query, fields });
  const { data } = facets;
  const missing = data === null ? null : missingText(data);
  return (
    <aside class="facets" aria-label="Facets">
      {FIELDS.map(([field, name]) => (
        <Facet key={field} field={field} name={name} values={data?.fields[field] ?? []} />
      ))}
      {data === null ? null : (
        <p class="muted">
          {data.complete ? `of ${exactly(data.examined)} spans` : `of the newest ${exactly(data.examined)} spans`}
        </p>
      )}
      {missing === null ? null : <p class={data?.unread === undefined ? 'muted' : 'bad-text'}>{missing}</p>}
    </aside>
  );
}

interface FacetProps {
  readonly field: string;
  readonly name: string;
  readonly values: FacetsAnswer['fields'][string];
}

function Facet({ field, name, values }: FacetProps): JSX.Element | null {
  const [all, setAll] = useState(false);
  if (values.length === 0) return null;
  const shown = all ? values : values.slice(0, SHOWN);
  return (
    <section>
      <h2>{name}</h2>
      <ul>
        {shown.map(({ value, count }) => (
          <FacetLine key={value} field={field} value={value} count={count} />
        ))}
      </ul>
      {values.length > SHOWN ? (
        <Button kind="quiet" expanded={all} onClick={() => setAll(!all)}>
          {all ? 'fewer' : `${values.length - SHOWN}${values.length < COUNTED ? '' : '+'} more`}
        </Button>
      ) : null}
    </section>
  );
}

function FacetLine({ field, value, count }: { field: string; value: string; count: number }): JSX.Element {
  const q = parameter('q') ?? '';
  const term = termOf(field, value);
  const isOn = hasTerm(q, term);
  const isOut = hasTerm(q, opposite(term));
  const change = (next: string): void => setQuery({ q: hasTerm(q, next) ? withoutTerm(q, next) : withTerm(q, next) });
  return (
    <li class={isOn ? 'on' : isOut ? 'out' : ''}>
      <button type="button" class="value" aria-pressed={isOn} onClick={() => change(term)}>
        <Name text={value} />
        <span class="count">{exactly(count)}</span>
      </button>
      <Button
        kind="quiet"
        icon="exclude"
        pressed={isOut}
        label={`Exclude ${value.slice(0, 40)}`}
        onClick={() => change(opposite(term))}
      />
    </li>
  );
}
