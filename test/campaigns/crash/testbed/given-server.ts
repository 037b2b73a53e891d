/**
 * A PostgreSQL server that is given by its URL, with an empty database. With the extension Citus the ledger is
 * distributed, as docs/ledger.md says.
 */
import { readFileSync } from 'node:fs';
import { Database } from '../../../../src/extensions/postgres/database.ts';
import type { ServerAddress } from '../../../../src/extensions/postgres/embedded/address.ts';
import { migrate } from '../../../../src/extensions/postgres/migrate.ts';
import { ask } from '../../../support/connection.ts';

const DISTRIBUTION = new URL('../../../../../docs/examples/citus.sql', import.meta.url);
const VIEWS = 'public';

export class GivenServer {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Refuses a database that has data of a daemon. */
  async start(): Promise<ServerAddress> {
    const [found] = await ask(this.#url, "SELECT to_regnamespace('sluice') IS NOT NULL AS used");
    if (found?.['used'] === true) throw new Error('the database has a schema sluice; give one without');
    try {
      await this.#makeSchema();
    } catch (error) {
      await this.stop();
      throw error;
    }
    const { hostname, port, username, password, pathname } = new URL(this.#url);
    return {
      host: hostname,
      port: Number(port === '' ? 5432 : port),
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      database: decodeURIComponent(pathname.slice(1)),
      ssl: false,
    };
  }

  /** Removes the schema that `start` made. The views go with it. */
  async stop(): Promise<void> {
    await ask(this.#url, 'DROP SCHEMA IF EXISTS sluice CASCADE');
  }

  async #makeSchema(): Promise<void> {
    const database = new Database().use({ connectionString: this.#url });
    await migrate(database, VIEWS).finally(() => database.close());
    const [citus] = await ask(this.#url, "SELECT FROM pg_extension WHERE extname = 'citus'");
    if (citus !== undefined) await ask(this.#url, readFileSync(DISTRIBUTION, 'utf8'));
  }
}
