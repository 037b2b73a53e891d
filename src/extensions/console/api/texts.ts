/** Long texts in answers: cut in the database, with their full length. */
import { CONTENT_COLUMNS } from '../../../pdata/content-columns.ts';

/** A `Text` of an expression; null for null. */
export const textJson = (expression: string, most: number): string =>
  `CASE WHEN ${expression} IS NOT NULL THEN json_build_object('text', left(${expression}, ${most}), 'length', length(${expression}),
    'cut', length(${expression}) > ${most}) END`;

/** The content columns of a row that are there, as an object of `Text`. */
export const contentJson = (alias: string, most: number): string =>
  `json_strip_nulls(json_build_object(${CONTENT_COLUMNS.map((field) => `'${field}', ${textJson(`${alias}.${field}`, most)}`).join(', ')}))`;
