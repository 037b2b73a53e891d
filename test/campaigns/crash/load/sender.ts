/** An HTTP client that sends a body to a replica, waits for the answer and writes the journal. */
import { Agent, request } from 'node:http';
import type { Body } from './body.ts';
import { entryOf, type Journal, type Status } from './journal.ts';

/** Whether the marker of a body is visible in the database; null when the database does not answer. */
export type FindMarker = (body: Body) => Promise<boolean | null>;

export interface Target {
  /** `http://127.0.0.1:port` of the replica. */
  readonly url: string;
  readonly number: number;
}

/** After this time the outcome of a request is unknown to its client. */
const ANSWER_TIMEOUT_MS = 8000;

export class Sender {
  readonly #journal: Journal;
  readonly #findMarker: FindMarker;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  readonly #known = new Set<number>();
  #sends = 0;
  #accepted = 0;

  constructor(journal: Journal, findMarker: FindMarker) {
    this.#journal = journal;
    this.#findMarker = findMarker;
  }

  get requests(): number {
    return this.#sends;
  }

  get accepted(): number {
    return this.#accepted;
  }

  async send(body: Body, target: Target): Promise<Status> {
    const send = ++this.#sends;
    if (!this.#known.has(body.id)) {
      this.#known.add(body.id);
      void this.#journal.write(entryOf(body));
    }
    await this.#journal.write({ entry: 'send', send, body: body.id, replica: target.number, at: Date.now() });
    const status = await this.#exchange(body, target);
    const committed = status === 200 ? await this.#findMarker(body) : null;
    if (status === 200) this.#accepted++;
    await this.#journal.write({ entry: 'answer', send, body: body.id, status, committed, at: Date.now() });
    return status;
  }

  close(): void {
    this.#agent.destroy();
  }

  #exchange(body: Body, { url }: Target): Promise<Status> {
    const headers: Record<string, string | number> = {
      authorization: `Bearer ${body.tenant.key}`,
      'content-type': body.encoding === 'json' ? 'application/json' : 'application/x-protobuf',
      'content-length': body.bytes.length,
    };
    if (body.gzip) headers['content-encoding'] = 'gzip';
    return new Promise((resolve) => {
      const outgoing = request(
        `${url}/v1/${body.signal}`,
        { method: 'POST', headers, agent: this.#agent, timeout: ANSWER_TIMEOUT_MS },
        (response) => {
          response.on('error', () => resolve('unknown'));
          // A client counts only a complete response as an answer.
          response.on('end', () => resolve(response.complete ? (response.statusCode ?? 'unknown') : 'unknown'));
          response.on('close', () => resolve('unknown'));
          response.resume();
        },
      );
      outgoing.on('timeout', () => outgoing.destroy());
      outgoing.on('error', () => resolve('unknown'));
      outgoing.end(body.bytes);
    });
  }
}
