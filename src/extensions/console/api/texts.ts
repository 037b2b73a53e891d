/** Long texts in answers: cut in the database, with their full length. */
import { CONTENT_COLUMNS } from '../../../pdata/content-columns.ts';

/** Characters of a name or an id in an answer. Senders may write megabytes, and a list has hundreds. */
export const LONGEST_NAME = 1024;

/** A name or an id of a list. */
export const nameText = (expression: string): string => `left(${expression}, ${LONGEST_NAME})`;

/** The finish reasons of a record, unless a sender wrote very many. */
export const finishReasons = (alias: string): string =>
  `CASE WHEN length(${alias}.finish_reasons::text) <= ${LONGEST_NAME} THEN ${alias}.finish_reasons END`;

/** Characters of one content column of a step. */
const LONGEST_CONTENT = 64 * 1024;
/** Characters of that column in all steps of an answer. */
const ALL_CONTENT = 4_000_000;

/** A common table expression `room`: the characters of each content column in an answer with so many steps. */
export const roomFor = (steps: string): string =>
  `room AS MATERIALIZED (SELECT least(${LONGEST_CONTENT}, ${ALL_CONTENT} / greatest(1, ${steps}))::int4 AS most)`;
export const ROOM = '(SELECT most FROM room)';

/** A `Text` of an expression; null for null. `most`: characters, as a number or an expression. */
export const textJson = (expression: string, most: number | string): string =>
  `CASE WHEN ${expression} IS NOT NULL THEN json_build_object('text', left(${expression}, ${most}), 'length', length(${expression}),
    'cut', length(${expression}) > ${most}) END`;

/** The content columns of a row that are not null, as an object of `Text`. */
export const contentJson = (alias: string, most: number | string): string =>
  `json_strip_nulls(json_build_object(${CONTENT_COLUMNS.map((field) => `'${field}', ${textJson(`${alias}.${field}`, most)}`).join(', ')}))`;
