/**
 * Text lines that end with a line feed. `node:readline` of newer versions of Node.js also ends a line at U+2028 and
 * U+2029, which a line of JSON may contain.
 */
import type { Readable } from 'node:stream';

class LineSplitter {
  /** The begin of a line whose end has not arrived. */
  #pieces: string[] = [];

  /** The lines that end within the text. */
  add(text: string): readonly string[] {
    const lines = text.split('\n');
    this.#pieces.push(lines[0] as string);
    if (lines.length === 1) return [];
    lines[0] = this.#pieces.join('');
    this.#pieces = [lines.pop() as string];
    return lines;
  }

  /** The last line, when it has no line feed. */
  end(): readonly string[] {
    const last = this.#pieces.join('');
    return last === '' ? [] : [last];
  }
}

/** Reads a stream of UTF-8. */
export async function* linesOf(stream: Readable): AsyncGenerator<string, void> {
  const splitter = new LineSplitter();
  for await (const text of stream.setEncoding('utf8')) yield* splitter.add(text as string);
  yield* splitter.end();
}

/** Calls back with each line of a stream of UTF-8 as it arrives, and with the last one before the stream closes. */
export function onLines(stream: Readable, received: (line: string) => void): void {
  const splitter = new LineSplitter();
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    for (const line of splitter.add(text)) received(line);
  });
  stream.once('end', () => {
    for (const line of splitter.end()) received(line);
  });
}
