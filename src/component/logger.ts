/** The logging that components see; pino behind it. Fields first, then a sentence. Nothing a client sent goes into the sentence. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
