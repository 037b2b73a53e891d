/**
 * Limits equal messages within a window: the first few are admitted, the number of the others is reported at its end.
 * Messages are counted by project, so that the messages of one do not hide those of another.
 */
import type { LogSampling } from '../../config/config.ts';

/** The limit of projects' own counts in one window. Messages of further projects are counted together. */
const MAX_PROJECT_KINDS = 50;
/** The limit of different messages in one window. Further ones are counted together. */
const MAX_KINDS = 1000;
const FURTHER = 'further messages';

/** `project`: null when messages of several projects were counted together. */
type Report = (suppressed: number, project: string | null) => void;

interface Kind {
  readonly project: string | null;
  passed: number;
  suppressed: number;
  report: Report;
}

export class Repetitions {
  #sampling: LogSampling;
  /** The messages of the current window. */
  readonly #kinds = new Map<string, Kind>();
  #projectKinds = 0;
  #window: NodeJS.Timeout | null = null;

  constructor(sampling: LogSampling) {
    this.#sampling = sampling;
  }

  configure(sampling: LogSampling): void {
    this.#sampling = sampling;
  }

  /** False when the message is suppressed; `report` is then called once at the end of the window. */
  admit(key: string, project: string | null, report: Report): boolean {
    if (!this.#sampling.enabled) return true;
    const kind = this.#kindOf(key, project, report);
    if (kind.passed < this.#sampling.initial) {
      kind.passed++;
      return true;
    }
    kind.suppressed++;
    kind.report = report;
    return false;
  }

  #kindOf(key: string, project: string | null, report: Report): Kind {
    const own = project === null ? null : `${key} ${project}`;
    const known = this.#kinds.get(own ?? key);
    if (known !== undefined) return known;
    if (own === null || this.#projectKinds >= MAX_PROJECT_KINDS) return this.#sharedKind(key, report);
    this.#projectKinds++;
    return this.#add(own, project, report);
  }

  #sharedKind(key: string, report: Report): Kind {
    const shared = this.#kinds.has(key) || this.#kinds.size < MAX_KINDS ? key : FURTHER;
    return this.#kinds.get(shared) ?? this.#add(shared, null, report);
  }

  #add(key: string, project: string | null, report: Report): Kind {
    this.#window ??= setTimeout(() => this.#close(), this.#sampling.tick).unref();
    const kind = { project, passed: 0, suppressed: 0, report };
    this.#kinds.set(key, kind);
    return kind;
  }

  #close(): void {
    this.#window = null;
    const ended = [...this.#kinds.values()];
    this.#kinds.clear();
    this.#projectKinds = 0;
    for (const { suppressed, project, report } of ended) if (suppressed > 0) report(suppressed, project);
  }
}
