/** The names of components and pipelines: `type` or `type/name`. */
import { PIPELINE_SIGNALS, type Signal } from './config.ts';

export interface ComponentId {
  readonly type: string;
  readonly name: string | null;
}

const TYPE = /^[A-Za-z][A-Za-z0-9_]{0,62}$/u;
const NAME = /^[^\s\p{C}\p{S}]{1,1024}$/u;

export const parseComponentType = (text: string): string | null => (TYPE.test(text) ? text : null);

/** Null when the text does not have this form. */
export function parseComponentId(text: string): ComponentId | null {
  const slash = text.indexOf('/');
  const type = slash === -1 ? text : text.slice(0, slash);
  const name = slash === -1 ? null : text.slice(slash + 1);
  return TYPE.test(type) && (name === null || NAME.test(name)) ? { type, name } : null;
}

export function parsePipelineId(text: string): Signal | null {
  const id = parseComponentId(text);
  return PIPELINE_SIGNALS.find((signal) => signal === id?.type) ?? null;
}
