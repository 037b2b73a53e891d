/**
 * What is new in a model call: calls repeat the history of their conversation, so that a call is compared with those
 * before it.
 */
import { jsonText, parseDocument } from '../pdata/exact-json.ts';
import type { Message } from './message.ts';
import type { Section } from './read-record.ts';

/** A call is compared with this many before it: agents of one conversation take turns. */
const COMPARED = 8;

export interface NewMessages {
  readonly input: readonly Message[];
  readonly answer: readonly Message[];
  /** The first messages of the input that a call before it has. */
  readonly repeated: number;
  /** Whether a call before it has the same messages: another library reports the same call. */
  readonly isRepeat: boolean;
}

export class CallHistory {
  readonly #calls: (readonly string[])[] = [];

  /** Adds a call, and compares it with those added before. */
  add(sections: readonly Section[]): NewMessages {
    const isAnswer = (source: string): boolean => source === 'output_content';
    const input = sections.filter(({ source }) => !isAnswer(source)).flatMap(({ messages }) => messages);
    const answer = sections.filter(({ source }) => isAnswer(source)).flatMap(({ messages }) => messages);
    const keys = input.map(keyOf);
    const whole = [...keys, ...answer.map(keyOf)];
    const repeated = Math.max(0, ...this.#calls.map((earlier) => knownIn(keys, earlier)));
    const isRepeat =
      whole.length > 0 &&
      this.#calls.some((earlier) => earlier.length === whole.length && knownIn(whole, earlier) === whole.length);
    this.#calls.push(whole);
    if (this.#calls.length > COMPARED) this.#calls.shift();
    return { input, answer, repeated, isRepeat };
  }
}

/** How many of the first messages an earlier call has. */
function knownIn(keys: readonly string[], earlier: readonly string[]): number {
  const known = new Set(earlier);
  const first = keys.findIndex((key) => !known.has(key));
  return first < 0 ? keys.length : first;
}

/** The same message of another call may have its arguments in another notation, and no name. */
function keyOf({ role, parts }: Message): string {
  const told = parts
    .filter(({ type }) => type !== 'reasoning')
    .map(({ type, text, mediaType, bytes }) => {
      const document = parseDocument(text);
      return [type, document === undefined ? text.trim() : jsonText(document), mediaType, bytes];
    });
  return JSON.stringify([role === 'tool' ? 'user' : role, told]);
}
