/** Reduces the validator's errors to those that name what the author can change. */
import type { ErrorObject } from 'ajv';
import { nearest } from '../component/nearest.ts';
import { jsonTypeOf, knownKeys, type Schema } from './schema.ts';

/** Keywords for which the validator reports a cause besides the error itself. */
const CONSEQUENCES = ['if', 'not', 'propertyNames'];

/**
 * One error for each mistake. Of the errors of alternatives (`anyOf`, `oneOf`), only those of the alternative that fits
 * the value best are kept, or the error about the choice if no alternative fits best.
 */
export function essential(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  let kept = errors.filter((error) => !CONSEQUENCES.includes(error.keyword) || errors.length === 1);
  for (const choice of errors.filter(isChoice)) {
    const inside = kept.filter((error) => error !== choice && isInside(error, choice));
    const meant = ofWrongType(choice, kept, inside) ? [] : meantBranch(choice, inside);
    const drop = new Set<ErrorObject>(meant === null ? inside : [choice, ...inside]);
    kept = kept.filter((error) => !drop.has(error) || meant?.includes(error) === true);
  }
  return kept.filter((error, index) => !isMisspelt(error, kept) && !isRepeated(error, kept.slice(0, index)));
}

const isChoice = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf';

/** All items of a list share the schema path, so the value must be the same too. */
const isInside = (error: ErrorObject, choice: ErrorObject): boolean =>
  error.schemaPath.startsWith(`${choice.schemaPath}/`) &&
  (error.instancePath === choice.instancePath || error.instancePath.startsWith(`${choice.instancePath}/`));

const ofWrongType = (choice: ErrorObject, errors: readonly ErrorObject[], inside: readonly ErrorObject[]): boolean =>
  errors.some((each) => isTypeOf(choice, each) && !inside.includes(each));

const isTypeOf = (choice: ErrorObject, error: ErrorObject): boolean =>
  error.keyword === 'type' && error.instancePath === choice.instancePath;

/** The errors of the alternative that fits best; null when none or several fit best. */
function meantBranch(choice: ErrorObject, inside: readonly ErrorObject[]): readonly ErrorObject[] | null {
  const branches = [...groupByBranch(inside, choice.schemaPath)].filter(
    ([, branch]) => !branch.some((error) => isTypeOf(choice, error)),
  );
  const fits = branches.map(([branch]) => fitOf(alternativesOf(choice)[branch] ?? {}, choice.data));
  const best = Math.max(...fits);
  const [only, ...others] = branches.filter((_, index) => fits[index] === best);
  return only === undefined || others.length > 0 ? null : only[1];
}

function groupByBranch(errors: readonly ErrorObject[], prefix: string): ReadonlyMap<number, readonly ErrorObject[]> {
  const groups = new Map<number, ErrorObject[]>();
  for (const error of errors) {
    const branch = Number.parseInt(error.schemaPath.slice(prefix.length + 1), 10);
    groups.set(branch, [...(groups.get(branch) ?? []), error]);
  }
  return groups;
}

/** How many keys of a map the alternative knows, also misspelt ones. */
function fitOf(alternative: Schema, value: unknown): number {
  if (jsonTypeOf(value) !== 'object') return 0;
  const known = [...knownKeys([alternative]), ...requiredKeys(alternative)];
  return Object.keys(value as object).filter((key) => known.includes(key) || nearest(key, known) !== null).length;
}

/** The alternatives of an `anyOf` or `oneOf`. */
export const alternativesOf = ({ schema }: ErrorObject): readonly Schema[] =>
  Array.isArray(schema) ? (schema as readonly Schema[]) : [];

export const requiredKeys = (schema: Schema): readonly string[] =>
  Array.isArray(schema['required']) ? schema['required'].map(String) : [];

/** The keys of those alternatives that require any. */
export const keysOfForms = (alternatives: readonly Schema[]): readonly (readonly string[])[] =>
  alternatives.map(requiredKeys).filter((required) => required.length > 0);

/** The keys of those alternatives whose required keys the map has. */
export const givenForms = (alternatives: readonly Schema[], map: unknown): readonly (readonly string[])[] =>
  keysOfForms(alternatives).filter((required) => required.every((key) => Object.hasOwn(map as object, key)));

/** The alternatives other than a dependency. */
export const formsOf = (schema: Schema | undefined): readonly Schema[] =>
  Array.isArray(schema?.['oneOf']) ? (schema['oneOf'] as readonly Schema[]) : [];

/**
 * The key that needs other keys, in a map that has another alternative completely: the key is the mistake, not the
 * absence of the others.
 */
export function excludedKey({ keyword, params, parentSchema, data }: ErrorObject): string | null {
  if (keyword !== 'dependencies') return null;
  const key = String(params['property']);
  const [given] = givenForms(formsOf(parentSchema), data);
  return given === undefined || given.includes(key) ? null : key;
}

/** The option that a map lacks. A dependency is reported like a required option. */
export const lackingKey = ({ keyword, params }: ErrorObject): string | null =>
  keyword === 'required' || keyword === 'dependencies' ? String(params['missingProperty']) : null;

/** The key that a map may not have. */
export const unknownKeyOf = ({ keyword, params }: ErrorObject): string | null =>
  keyword === 'additionalProperties' ? String(params['additionalProperty']) : null;

/** A lacking option whose misspelt key is reported as unknown. */
function isMisspelt(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  const lacking = lackingKey(error);
  return (
    lacking !== null &&
    errors.some((other) => {
      const key = other.instancePath === error.instancePath ? unknownKeyOf(other) : null;
      return key !== null && nearest(key, knownKeys([(other.parentSchema ?? {}) as Schema])) === lacking;
    })
  );
}

const isRepeated = (error: ErrorObject, earlier: readonly ErrorObject[]): boolean =>
  lackingKey(error) !== null &&
  earlier.some((other) => other.instancePath === error.instancePath && lackingKey(other) === lackingKey(error));
