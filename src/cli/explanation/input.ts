/** What `sluice explain` is given: bodies of OTLP, or rows as the file exporter writes them. */
import { constants } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { readLimitedFile } from '../../component/limited-file.ts';
import { UserError } from '../../errors.ts';
import type { Row } from '../reader.ts';
import type { Body } from './stages.ts';
import { fileFault } from '../../component/file-fault.ts';

/** As for requests. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A file of rows may have many; its text must fit into a string. */
const MAX_FILE_BYTES = constants.MAX_STRING_LENGTH;
const GZIP_MAGIC = [0x1f, 0x8b] as const;
const OPEN_BRACE = 0x7b;
const WHITE = [0x20, 0x0a, 0x0d, 0x09];

export interface Input {
  /** More than one body if the encoding does not name the signal: the first that is valid counts. */
  readonly bodies: readonly (readonly Body[])[];
  readonly rows: readonly Row[];
}

export function readInput(path: string): Input {
  const bytes = expanded(path);
  const first = bytes.find((byte) => !WHITE.includes(byte));
  if (first === undefined) throw new UserError(`${path} is empty`);
  if (first !== OPEN_BRACE) {
    const encoding = 'protobuf';
    return { bodies: [(['traces', 'logs'] as const).map((signal) => ({ signal, encoding, bytes }))], rows: [] };
  }
  const documents = documentsIn(path, bytes.toString('utf8'));
  const rows = documents.filter(({ value }) => typeof value['signal'] === 'string').map(({ value }) => value);
  const bodies = documents.filter(({ value }) => value['signal'] === undefined).map((each) => bodiesOf(path, each));
  return { bodies, rows };
}

function expanded(path: string): Buffer {
  const bytes = read(path);
  if (!GZIP_MAGIC.every((byte, index) => bytes[index] === byte)) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch (error) {
    throw new UserError(`${path} cannot be expanded: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function read(path: string): Buffer {
  try {
    return readLimitedFile(path, { maxBytes: MAX_FILE_BYTES, pipes: true });
  } catch (error) {
    throw new UserError(`${path} cannot be read: ${fileFault(error)}`);
  }
}

/** The text stays as it was sent, with every digit. */
interface Document {
  readonly text: string;
  readonly value: Row;
}

/** One document, or one in each line. */
function documentsIn(path: string, text: string): readonly Document[] {
  const whole = parsed(text);
  if (whole !== null) return [{ text, value: whole }];
  return text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, number }) => {
      const value = parsed(line);
      if (value === null) throw new UserError(`${path}:${number} is no JSON object`);
      return { text: line, value };
    });
}

function parsed(text: string): Row | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : null;
  } catch {
    return null;
  }
}

function bodiesOf(path: string, { text, value: document }: Document): readonly Body[] {
  const bytes = Buffer.from(text);
  const encoding = 'json';
  if (document['resourceSpans'] !== undefined) return [{ signal: 'traces', encoding, bytes }];
  if (document['resourceLogs'] !== undefined) return [{ signal: 'logs', encoding, bytes }];
  const what = document['resourceMetrics'] === undefined ? 'neither OTLP nor a row of the file exporter' : 'metrics';
  throw new UserError(`${path} holds ${what}`, 'Spans and log records have something to explain.');
}
