/** The `csv` exporter: chosen columns of every record as a line of CSV, synced before the request is acknowledged. */
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ChunkPool, defineExporter, encodeInSteps } from 'sluice';

const LINES_PER_STEP = 200;

export const csv = defineExporter({
  type: 'csv',
  summary: 'Appends chosen columns of every record to a CSV file.',
  stability: 'development',
  // A file has one writer.
  placement: 'single',
  signals: ['traces', 'logs', 'metrics'],
  requires: ['project', 'environment'],
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['path', 'columns'],
    properties: {
      path: { type: 'string', minLength: 1, description: 'The file. Its folder exists.' },
      columns: { type: 'array', minItems: 1, items: { type: 'string' }, description: 'Columns of docs/storage.md.' },
    },
  },
  example: 'path: ./spans.csv\ncolumns: [trace_id, name, attributes]',
  create: ({ path, columns }, host) => {
    const pool = new ChunkPool();
    const file = new CsvFile(host.resolvePath(path), `${columns.join(',')}\n`);
    return {
      start: () => file.open(),
      stop: () => file.close(),
      healthy: () => file.healthy,
      *encode(batch) {
        // Rows without what processors dropped, with what they set and derived: a JSON object for each record.
        const rows = yield* encodeInSteps(batch, 'ndjson', pool);
        const json = Buffer.concat(rows.chunks).toString();
        rows.release();
        const lines = [];
        for (const line of json.split('\n')) {
          if (line === '') continue;
          const row = JSON.parse(line);
          lines.push(columns.map((column) => field(row[column])).join(','));
          if (lines.length % LINES_PER_STEP === 0) yield;
        }
        const text = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const { length } = text;
        return { signal: batch.signal, count: lines.length, bytes: length, chunks: [text], release: () => undefined };
      },
      write: (group) => file.append(group.flatMap(({ chunks }) => chunks)),
    };
  },
});

/** A row is one line: a line break inside a value is written as a space. */
function field(value) {
  if (value === null || value === undefined) return '';
  const text = (typeof value === 'object' ? JSON.stringify(value) : String(value)).replace(/[\r\n]+/g, ' ');
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

class CsvFile {
  #path;
  #header;
  #handle = null;
  /** The length of the file up to its last acknowledged line. */
  #length = 0;
  /** Appends run one after the other: several pipelines may share the exporter. */
  #last = Promise.resolve();
  healthy = false;

  constructor(path, header) {
    this.#path = path;
    this.#header = header;
  }

  async open() {
    this.#handle = await open(this.#path, 'a+', 0o600);
    this.#length = (await this.#handle.readFile()).lastIndexOf('\n') + 1;
    await this.append(this.#length === 0 ? [Buffer.from(this.#header)] : []);
    // The name of a new file is durable when its folder is synced.
    const folder = await open(dirname(this.#path), 'r');
    await folder.sync().finally(() => folder.close());
  }

  /** Resolves when the lines are on disk. */
  append(chunks) {
    const result = this.#last.then(() => this.#append(Buffer.concat(chunks)));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Cuts off what a failed write or a crash has left, then writes and syncs. */
  async #append(bytes) {
    try {
      await this.#handle.truncate(this.#length);
      await this.#handle.appendFile(bytes);
      await this.#handle.datasync();
      this.#length += bytes.length;
      this.healthy = true;
    } catch (error) {
      this.healthy = false;
      throw error;
    }
  }

  async close() {
    await this.#last;
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }
}
