/** Compiles the configured rules. Refuses a replacement that a rule would find again. */
import { expressionFault } from '../../../component/expression.ts';
import { UserError } from '../../../errors.ts';
import { patternRule } from './pattern-rule.ts';
import { type Preset, type PresetName, PRESETS } from './presets.ts';
import { Redactor } from './redactor.ts';
import type { Rule } from './rule.ts';
import { scanAll, scanInSteps } from './scan.ts';

export type RedactOption =
  | { readonly preset: PresetName; readonly replacement?: string }
  | { readonly name: string; readonly pattern: string; readonly replacement?: string };

/** Longest pattern a configuration may use. */
export const MAX_PATTERN_LENGTH = 1000;
export const MAX_RULES = 100;
const NOT_STORABLE = /[\0\p{Surrogate}]/u;

/** Null when nothing is configured. `place` names the option in messages; `processorMs` as of `patternRule`. */
export function compileRules(
  options: readonly RedactOption[],
  place: string,
  processorMs?: () => number,
): Redactor | null {
  if (options.length === 0) return null;
  const redactor = new Redactor(options.map((option, index) => compileRule(option, `${place}[${index}]`, processorMs)));
  redactor.rules.forEach((rule, index) => {
    if (NOT_STORABLE.test(rule.replacement))
      throw new UserError(
        `${place}[${index}].replacement: it has U+0000 or half of a surrogate pair, which PostgreSQL does not store`,
        'choose a replacement of ordinary characters, such as a word in brackets',
      );
    if (redactor.redact(rule.replacement) !== rule.replacement)
      throw new UserError(
        `${place}[${index}].replacement: a rule would find "${rule.replacement}" and replace it again`,
        'choose a replacement that no rule matches, such as a word in brackets',
      );
  });
  redactor.takeCounts(() => {});
  return redactor;
}

function compileRule(option: RedactOption, place: string, processorMs: (() => number) | undefined): Rule {
  if ('preset' in option) {
    const preset: Preset = PRESETS[option.preset];
    return {
      name: option.preset,
      replacement: option.replacement ?? `[${option.preset}]`,
      hint: preset.hint,
      numbers: preset.numbers ?? null,
      signs: preset.signs,
      shortest: preset.shortest,
      find: (text) => scanAll(preset.scan, text),
      search: (text, found) => scanInSteps(preset.scan, text, found),
    };
  }
  const fault = expressionFault(option.pattern);
  if (fault !== null) throw new UserError(`${place}.pattern: ${fault}`, 'a pattern is an RE2 expression');
  return patternRule(option.name, option.pattern, option.replacement ?? `[${option.name}]`, processorMs);
}
