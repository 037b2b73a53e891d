/** A logger for tests of parts that log. */
import type { Logger } from '../../src/component/logger.ts';

const quiet = (): void => undefined;

export const QUIET: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
