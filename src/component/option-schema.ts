/** Schemas of options, for the components and for `service`. Each kind of option is written in one way. */

/** Options that belong together. Each of them may be left out, and so may the group. */
export const optionGroup = <Properties extends object>(description: string, properties: Properties) =>
  ({ type: 'object', additionalProperties: false, default: {}, description, properties }) as const;

/** An object of which some options are needed, such as an item of a list. */
export const objectOption = (description: string, required: readonly string[], properties: object) =>
  ({ type: 'object', description, additionalProperties: false, required, properties }) as const;

export const booleanOption = (byDefault: boolean, description: string) =>
  ({ type: 'boolean', default: byDefault, description }) as const;

export const textOption = (byDefault: string, description: string) =>
  ({ type: 'string', default: byDefault, description }) as const;

/** The first word is the default. */
export const choiceOption = (words: readonly [string, ...string[]], description: string) =>
  ({ type: 'string', enum: words, default: words[0], description }) as const;

export const integerOption = ([minimum, maximum]: readonly [number, number], byDefault: number, description: string) =>
  ({ type: 'integer', minimum, maximum, default: byDefault, description }) as const;
