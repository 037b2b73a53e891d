/**
 * Calls the command line within this process, so that a call takes milliseconds. Everything except the process is real.
 */
import { Readable, Writable } from 'node:stream';
import { main } from '../../src/cli/main.ts';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';

/** Shared by all calls of a process, because their compilation takes most of a call. */
const SCHEMAS = new CompiledSchemas();

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Dependencies {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Columns of the terminal; left out: no terminal. */
  readonly columns?: number;
  /** Lines of standard input, which is a terminal too when there are columns. */
  readonly input?: readonly string[];
}

export async function sluice(
  args: readonly string[],
  { folder, env = {}, columns, input = [] }: Dependencies,
): Promise<Outcome> {
  const stdout = new Capture(columns);
  const stderr = new Capture(columns);
  const host: NodeJS.Process = Object.create(process, {
    argv: { value: [process.execPath, '/usr/bin/sluice', ...args] },
    env: { value: { NO_COLOR: '1', ...env } },
    cwd: { value: () => folder },
    stdin: { value: Object.assign(Readable.from(input.map((line) => `${line}\n`)), { isTTY: columns !== undefined }) },
    stdout: { value: stdout },
    stderr: { value: stderr },
    exit: { value: () => undefined },
    exitCode: { value: 0, writable: true },
    // The real method must be called on the real process.
    kill: { value: process.kill.bind(process) },
  });
  await main(host, SCHEMAS);
  return { code: Number(host.exitCode), out: stdout.text, err: stderr.text };
}

class Capture extends Writable {
  text = '';
  readonly columns: number | undefined;
  readonly isTTY: boolean;

  constructor(columns: number | undefined) {
    super();
    this.columns = columns;
    this.isTTY = columns !== undefined;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
