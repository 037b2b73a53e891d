/** A text as a part of a regular expression that matches exactly this text, with or without the flag `u`. */
export const literalPattern = (text: string): string => text.replace(/[$()*+./?[\\\]^{|}]/gu, '\\$&');
