/** Installs the packages that docs/sdks.md names, once for each list of versions. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../docs/markdown.ts';
import { CACHE, step } from './sdks.ts';

export interface Pins {
  readonly manager: string;
  readonly packages: readonly string[];
}

export interface Installed {
  /** Programs run below it; null: anywhere. */
  readonly folder: string | null;
  readonly env: Readonly<Record<string, string>>;
}

export function install(pins: Pins | null): Installed {
  if (pins === null) return { folder: null, env: {} };
  const hash = createHash('sha256').update(JSON.stringify(pins)).digest('hex').slice(0, 12);
  const folder = join(CACHE, `documented-${pins.manager}-${hash}`);
  if (!existsSync(folder)) make(folder, pins);
  if (pins.manager !== 'pip') return { folder, env: {} };
  return { folder, env: { PYTHONPATH: folder, PATH: join(folder, 'bin') } };
}

function make(folder: string, { manager, packages }: Pins): void {
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(`${folder}-`);
  try {
    INSTALL[manager]?.(work, packages);
    renameSync(work, folder);
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    throw error;
  }
}

const INSTALL: Readonly<Record<string, (work: string, packages: readonly string[]) => void>> = {
  npm(work, packages) {
    writeFileSync(join(work, 'package.json'), '{"private":true,"type":"module"}');
    step('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], work);
  },
  pip(work, packages) {
    const quiet = ['--quiet', '--disable-pip-version-check'];
    // A file of the repository names all packages with their dependencies: a resolution can take minutes.
    const list = packages.find((each) => each.endsWith('.txt'));
    const what = list === undefined ? packages : ['--no-deps', '-r', `${ROOT}${list}`];
    step('python3', ['-m', 'pip', 'install', ...quiet, '--target', work, ...what], work);
  },
  go(work, packages) {
    step('go', ['mod', 'init', 'documented'], work);
    step('go', ['get', ...packages], work);
  },
  maven(work, packages) {
    step('java', ['-version'], work);
    const dependencies = packages.map((each) => {
      const [group, artifact, version] = each.split(':');
      return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
    });
    const head = '<modelVersion>4.0.0</modelVersion><groupId>d</groupId><artifactId>d</artifactId><version>1</version>';
    writeFileSync(
      join(work, 'pom.xml'),
      `<project>${head}<dependencies>${dependencies.join('')}</dependencies></project>`,
    );
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${work}`, '-Dmdep.stripVersion=true'];
    step('mvn', ['-q', '-B', '-ntp', ...goal], work);
  },
};
