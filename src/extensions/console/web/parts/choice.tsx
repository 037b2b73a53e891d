/** A labelled choice of one word, kept in the address. */
import type { JSX } from 'preact';
import { setQuery } from '../state/location.ts';
import { visible } from '../text/visible.ts';

interface ChoiceProps {
  readonly label: string;
  /** The parameter of the address. */
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
}

export function Choice({ label, name, value, options }: ChoiceProps): JSX.Element {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <Options of={options} />
      </select>
    </label>
  );
}

/** The options of a `select`. */
export function Options({ of }: { of: ChoiceProps['options'] }): JSX.Element {
  return (
    <>
      {of.map(([value, text]) => (
        <option key={value} value={value}>
          {visible(text)}
        </option>
      ))}
    </>
  );
}
