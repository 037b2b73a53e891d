/** Distinct request bodies, made cheaply from a few: a server that recognizes replays must process each of them. */
import { randomBytes } from 'node:crypto';
import { gzipWithIds, type IdentifiedBody, replaceIds, seal, TRACE_ID_BYTES } from './identified-body.ts';

export interface Requests {
  readonly contentEncoding: 'gzip' | 'identity';
  next(): Buffer;
  /**
   * Returns a body of `next` for reuse after its answer, so that the client does not measure its own garbage
   * collection.
   */
  done(body: Buffer): void;
}

/** Reusable copies of a few bodies, each with its original. */
export class Copies<Origin> {
  readonly #spare = new Map<Origin, Buffer[]>();
  readonly #origins = new WeakMap<Buffer, Origin>();
  readonly #copy: (origin: Origin) => Buffer;

  constructor(copy: (origin: Origin) => Buffer) {
    this.#copy = copy;
  }

  take(origin: Origin): Buffer {
    const spare = this.#spare.get(origin)?.pop();
    if (spare !== undefined) return spare;
    const made = this.#copy(origin);
    this.#origins.set(made, origin);
    return made;
  }

  give(copy: Buffer): void {
    const origin = this.#origins.get(copy) as Origin;
    const spare = this.#spare.get(origin) ?? [];
    this.#spare.set(origin, spare);
    spare.push(copy);
  }
}

/** The content of a body, with the bytes to send: the same bytes, or compressed. */
interface Template {
  readonly content: IdentifiedBody;
  readonly sent: IdentifiedBody;
}

/** New spans each time, for a store that keeps each span once: the trace ids are overwritten. */
export class FreshRequests implements Requests {
  readonly contentEncoding: 'gzip' | 'identity';
  readonly #templates: readonly Template[];
  readonly #copies = new Copies<Template>(({ sent }) => Buffer.from(sent.bytes));
  #count = 0;

  constructor(bodies: readonly IdentifiedBody[], contentEncoding: 'gzip' | 'identity') {
    this.contentEncoding = contentEncoding;
    this.#templates = bodies.map((content) => ({
      content,
      sent: contentEncoding === 'gzip' ? gzipWithIds(content) : content,
    }));
  }

  next(): Buffer {
    const template = this.#templates[this.#count++ % this.#templates.length] as Template;
    const { content, sent } = template;
    const body = this.#copies.take(template);
    const ids = randomBytes(sent.ids.length * TRACE_ID_BYTES);
    replaceIds(body, sent.ids, ids);
    if (sent !== content) {
      replaceIds(content.bytes, content.ids, ids);
      seal(body, content.bytes);
    }
    return body;
  }

  done(body: Buffer): void {
    this.#copies.give(body);
  }
}
