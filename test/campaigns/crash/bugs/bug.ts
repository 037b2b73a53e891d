/**
 * Seeded bugs: mistakes that a developer could make, one patch file each, and the scenario that must find them. The
 * lines before the first `diff --git` are YAML, the rest is what `git diff` writes: `git apply` takes the whole file.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { Kind } from '../check/findings.ts';
import { PRODUCT_ROOT } from '../testbed/testbed.ts';

export interface SeededBug {
  readonly name: string;
  /** What is wrong, in one sentence. */
  readonly about: string;
  /** The scenario that finds it in the fewest cycles. */
  readonly scenario: string;
  readonly cycles: number;
  /** Only the cases of the scenario whose name has this text. */
  readonly only?: string;
  /** One of these kinds must be found. */
  readonly findings: readonly Kind[];
  /** Absolute path of the patch. */
  readonly patch: string;
  /** The files it changes, relative to the root of the repository. */
  readonly files: readonly string[];
}

const FOLDER = join(PRODUCT_ROOT, 'test/campaigns/crash/bugs');
const SUFFIX = '.patch';
const FIRST_DIFF = /^diff --git /m;
const CHANGED_FILE = /^\+\+\+ b\/(.+)$/gm;
const run = promisify(execFile);
const { transpile } = (await import(`file://${PRODUCT_ROOT}/scripts/transpile.js`)) as {
  transpile(root: string, files: readonly string[]): Promise<void>;
};

/** All seeded bugs, by name. */
export async function readBugs(): Promise<readonly SeededBug[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(SUFFIX)).sort();
  return Promise.all(files.map((file) => readBug(file.slice(0, -SUFFIX.length))));
}

async function readBug(name: string): Promise<SeededBug> {
  const patch = join(FOLDER, name + SUFFIX);
  const text = await readFile(patch, 'utf8');
  const header = parse(text.slice(0, text.search(FIRST_DIFF))) as Omit<SeededBug, 'name' | 'patch' | 'files'>;
  return { name, ...header, patch, files: [...text.matchAll(CHANGED_FILE)].map(([, file]) => String(file)) };
}

/**
 * Applies the patch to the sources below `root`. The lines next to a change must match, the other context may differ.
 */
export async function applyPatch({ patch }: SeededBug, root: string): Promise<void> {
  // Inside of a repository `git apply` skips files outside of the current folder without an error.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root) };
  await run('git', ['apply', '-C1', '--whitespace=nowarn', patch], { cwd: root, env });
}

/** A copy of the product with the bug compiled into it. The caller removes the folder. */
export async function buildWithBug(bug: SeededBug): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'sluice-bug-'));
  for (const part of ['bin', 'config', 'proto', 'package.json', 'dist/src', ...bug.files])
    await cp(join(PRODUCT_ROOT, part), join(root, part), { recursive: true });
  await symlink(join(PRODUCT_ROOT, 'node_modules'), join(root, 'node_modules'));
  await applyPatch(bug, root);
  await transpile(root, bug.files);
  return root;
}

export async function removeBuild(root: string): Promise<void> {
  await rm(root, { recursive: true, force: true });
}
