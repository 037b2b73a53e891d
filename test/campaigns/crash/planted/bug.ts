/** A fault that somebody could make in earnest, as an edit of the compiled product, and what must find it. */
import type { Kind } from '../check/findings.ts';

export interface Edit {
  /** Below dist/src. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface PlantedBug {
  readonly name: string;
  /** What is wrong with it, for whoever reads the table. */
  readonly about: string;
  readonly edits: readonly Edit[];
  /** The smallest campaign that should find it. */
  readonly campaign: string;
  readonly cycles: number;
  readonly only?: string;
  /** What the judge calls it; any of them will do. */
  readonly kinds: readonly Kind[];
}

/** The text with the edit made; throws when the place is not there, or is not the only one. */
export function applyEdit(text: string, { file, find, replace }: Edit): string {
  const places = text.split(find).length - 1;
  if (places !== 1) throw new Error(`${file}: ${places} places instead of one have ${JSON.stringify(find)}`);
  return text.replace(find, () => replace);
}
