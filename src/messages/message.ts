/**
 * Messages: what the content columns of a record are read into, whatever shape the sender stored. The module has no
 * dependency on Node, so that the console's page can use it.
 */

/**
 * `query` and `document` are parts of retrievals. `json` is a value without a known meaning; nothing of it is left out.
 */
export type PartType = 'text' | 'reasoning' | 'tool_call' | 'tool_result' | 'media' | 'query' | 'document' | 'json';

export interface Part {
  readonly type: PartType;
  /** The arguments of a tool call, the address of media. JSON where the sender sent a value that is no text. */
  readonly text: string;
  /** The id of a tool call, its result, or a document. */
  readonly id: string | null;
  /** The name of a tool or of a file. */
  readonly name: string | null;
  /** The type of media: `image/png`, or `image` where the sender states no more. */
  readonly mediaType: string | null;
  /** The size of media that is part of the message. */
  readonly bytes: number | null;
}

export interface Message {
  /** `system`, `user`, `assistant`, `tool`, or the sender's own word; null: of a retrieval. */
  readonly role: string | null;
  /** The name of the author of the message. */
  readonly name: string | null;
  readonly parts: readonly Part[];
  /** In the sender's word. */
  readonly finishReason: string | null;
}

export interface Reading {
  readonly messages: readonly Message[];
  /** False: there are more parts than are read. */
  readonly isComplete: boolean;
}

/** Further parts of one column are not read. */
export const MAX_PARTS = 10_000;
/** A value that is nested deeper stays JSON. */
export const MAX_DEPTH = 24;
/** A longer column is read as text. */
export const MAX_CHARACTERS = 16 * 1024 * 1024;
const MAX_WORD = 256;

export function part(type: PartType, text: string, more: Partial<Omit<Part, 'type' | 'text'>> = {}): Part {
  const { id = null, name = null, mediaType = null, bytes = null } = more;
  return { type, text, id, name, mediaType, bytes };
}

const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  humanmessagechunk: 'user',
  ai: 'assistant',
  aimessagechunk: 'assistant',
  model: 'assistant',
  developer: 'system',
  function: 'tool',
  'tool-call': 'assistant',
  'tool-response': 'tool',
};
/** Written where a sender or the name of an event states no role. */
const NO_ROLES: ReadonlySet<string> = new Set(['', 'unknown', 'operation', 'gen_ai', 'choice']);

export function roleOf(word: string, otherwise: string): string {
  const role = word.trim().toLowerCase().slice(0, MAX_WORD);
  if (NO_ROLES.has(role)) return otherwise;
  return Object.hasOwn(ROLES, role) ? (ROLES[role] ?? role) : role;
}

/** The role that the name of a log record states, such as `gen_ai.user.message`. */
export function roleOfEvent(name: string | null | undefined, otherwise: string): string {
  const role = /^gen_ai\.(system|user|assistant|tool)\.message$/u.exec(name ?? '')?.[1];
  return role ?? otherwise;
}
