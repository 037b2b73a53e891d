/** Stored texts: those that are cut in other answers can be read in pieces. */
import type { ContentColumn } from '../../../../pdata/content-columns.ts';

/** A text that may be cut. Lengths are in Unicode characters. */
export interface Text {
  readonly text: string;
  readonly length: number;
  readonly cut: boolean;
}

export type ContentField = ContentColumn;

/** `GET …/spans/{span}/content/{field}?offset` also reads these whole columns as text. */
export type TextField = ContentField | 'status_message' | 'attributes' | 'events' | 'links' | 'resource';

/** `GET …/spans/{span}/content/{field}?offset=0`: at most 1 Mi characters. */
export interface ContentPiece {
  readonly field: TextField;
  readonly offset: number;
  readonly length: number;
  readonly text: string;
  /** The next offset; null: this was the last piece. */
  readonly next: number | null;
}
